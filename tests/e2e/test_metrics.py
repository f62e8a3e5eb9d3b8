"""What monitoring systems read: the page itself, by parsers of others, and through a Prometheus."""

import json
import re
import shutil
import subprocess
import time

import programs
import pytest
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000
MONITORING = programs.ROOT / "configs" / "monitoring"
LISTEN = "127.0.0.1:9838"
OPENMETRICS = "Accept: application/openmetrics-text; version=1.0.0"
LEGS = {"received": "received_frames", "transmitted": "transmitted_frames", "retransmitted": "retransmitted_segments"}
PORTS = {"received", "transmitted", "transmit_dropped", "oversized", "copy_failed"}


def fetch(wire, path="/metrics", *words, listen=LISTEN):
    return wire.box.run("curl", "--silent", "--show-error", "--fail", *words, f"http://{listen}{path}").stdout


def sample_of(counter):
    """Name and labels of the sample that is a counter of sluicectl."""
    part, _, name = counter.partition(".")
    if part == "proxy":
        for prefix, action in (("forward_", "forwarded"), ("drop_", "dropped")):
            if name.startswith(prefix):
                return "sluice_packets_total", {"action": action, "reason": name.removeprefix(prefix)}
        if name == "optimised":
            return "sluice_packets_total", {"action": "optimised", "reason": "split"}
        stem, _, leg = name.rpartition("_")
        if leg in ("radio", "core"):
            return f"sluice_{LEGS.get(stem, stem)}_total", {"leg": leg}
        return f"sluice_{name}_total", {}
    if part == "traffic":
        if name.startswith("passed_bytes."):
            return "sluice_traffic_bytes_total", {"handling": "passed", "reason": name.removeprefix("passed_bytes.")}
        reasons = {"controlled_bytes": "rate_controller", "split_bytes": "congestion_control"}
        return "sluice_traffic_bytes_total", {"handling": name.removesuffix("_bytes"), "reason": reasons[name]}
    if part == "ports":
        side, _, name = name.partition(".")
        return f"sluice_port_{name}{'_packets' if name in PORTS else ''}_total", {"port": side}
    if part == "feedback" and (name == "accepted" or name.startswith("refused_")):
        return "sluice_feedback_messages_total", {"result": name.removeprefix("refused_")}
    return f"sluice_{part}_{name}_total", {}


def samples(families):
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def test_other_peoples_parsers_read_the_page_and_find_what_sluicectl_says(wire, server):
    parsers = [pytest.importorskip("prometheus_client.openmetrics.parser"), pytest.importorskip("prometheus_client.parser")]
    began = time.time()
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", metrics={"listen": LISTEN})
    client(wire, server).download(MEGA)
    client(wire, server).upload(MEGA)
    deadline = time.monotonic() + PATIENCE
    while True:  # nothing comes in any more, so that two looks see the same
        before, pages, after = sluice.ask("counters"), (fetch(wire, "/metrics", "-H", OPENMETRICS), fetch(wire)), sluice.ask("counters")
        if before == after and before["proxy.flows_closed"] > 1 and sluice.ask("status")["flows"] == 0:
            break
        assert time.monotonic() < deadline, "counters do not come to rest"
        time.sleep(0.2)
    for parser, page in zip(parsers, pages):
        found = samples(parser.text_string_to_metric_families(page))
        for counter, value in before.items():
            name, labels = sample_of(counter)
            assert found[name, frozenset(labels.items())] == value, counter
        what_became = sum(value for (name, _), value in found.items() if name == "sluice_packets_total")
        assert what_became == before["proxy.received_radio"] + before["proxy.received_core"]
        assert not any(address in page for address in wire.ue_addresses), "no label per UE"
        process = {name: value for (name, _), value in found.items() if name.startswith("process_")}
        assert set(process) == {"process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
                                "process_open_fds", "process_max_fds", "process_start_time_seconds"}
        assert 0 < process["process_resident_memory_bytes"] < process["process_virtual_memory_bytes"]
        assert 0 < process["process_open_fds"] < process["process_max_fds"]
        assert began - 1 < process["process_start_time_seconds"] < time.time()
        assert process["process_cpu_seconds_total"] > 0
        completed = found["sluice_flow_completion_seconds_count", frozenset({("group", "optimised")})]
        assert completed == before["proxy.flows_closed"] > 0
        assert found["sluice_flow_completion_seconds_count", frozenset({("group", "control")})] == 0
        states = {dict(labels)["state"]: value for (name, labels), value in found.items() if name == "sluice_connections"}
        assert states == {"handshake": 0, "split": 0, "handing_back": 0, "end_to_end": 0, "released": 0}
    if shutil.which("promtool"):
        checked = subprocess.run(["promtool", "check", "metrics"], input=pages[1], capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
    sluice.stop_and_check()


def test_by_acknowledgements_every_view_has_the_queue_of_one_source(wire, server, tmp_path):
    """The answer of the program, the tables of sluicectl, and the metrics of both groups, during a download."""
    token = "0123456789abcdef" * 2
    (tmp_path / "page.token").touch(mode=0o600)
    (tmp_path / "page.token").write_text(token + "\n", encoding="ascii")
    sluice = programs.Sluice(wire.lab, wire.box, mode="smvs", smvs={"law": "acks"}, metrics={"listen": LISTEN},
                             page={"token_file": str(tmp_path / "page.token")})
    parse = pytest.importorskip("prometheus_client.parser").text_string_to_metric_families

    def on_the_page():
        """The bearer in the first event that the page gets."""
        command = f"curl --silent --no-buffer -H 'Authorization: Bearer {token}' http://{LISTEN}/events | grep -m 1 ^data: | cut -c 6-"
        (shown,) = json.loads(wire.box.run("sh", "-c", command).stdout)["bearers"]
        return shown

    def table(*words):
        text = subprocess.run([programs.program("sluicectl"), "--socket", sluice.socket, *words], capture_output=True, text=True,
                              timeout=PATIENCE, check=True).stdout
        lines = text.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("ue "))
        return dict(zip(lines[head].split(), lines[head + 1].split()))

    with client(wire, server).connect({"do": "until"}) as connection:
        deadline = time.monotonic() + PATIENCE
        while True:
            connection.recv(1 << 20)
            (bearer,) = sluice.ask("bearers")
            found = samples(parse(fetch(wire)))
            group = {name.removeprefix("sluice_group_"): value for (name, labels), value in found.items()
                     if name.startswith("sluice_group_") and ("group", "optimised") in labels}
            if bearer["queue_delay_ms"] is not None and group["queue_samples_total"] > 2 and group["transmitted_bytes_total"] > 0:
                break
            assert time.monotonic() < deadline, (bearer, group)
        assert bearer["queue_source"] == bearer["steered_by"] == "acknowledgements"
        assert bearer["queue_bytes"] is not None
        assert "-" not in (table("bearers")["queue_kB"], table("bearers")["delay_ms"])
        assert "-" not in (table("top")["queue_kB"], table("top")["delay_ms"])
        shown = on_the_page()
        assert shown.keys() == bearer.keys()
        assert shown["queue_source"] == bearer["queue_source"]
        assert shown["queue_bytes"] is not None
        (treated, control) = sluice.ask("groups")
        assert treated["queue_samples"] > 0 and treated["queue_delay_mean_ms"] is not None
        assert control["queue_samples"] == 0 and control["queue_delay_mean_ms"] is None, "unknown, not zero"
        assert treated["transmitted_bytes"] > 0
    sluice.stop_and_check()


def gauge(wire, line_begins):
    (line,) = [line for line in fetch(wire).splitlines() if line.startswith(line_begins)]
    return line.split()


def test_a_reload_shows_on_the_page(wire):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", metrics={"listen": LISTEN})
    good = json.loads(sluice.file.read_text(encoding="utf-8"))
    hash_before, _ = gauge(wire, "sluice_config_info")
    assert gauge(wire, "sluice_config_last_reload_successful") == ["sluice_config_last_reload_successful", "1"]
    programs.write(sluice.file, good | {"mode": "no-such-mode"})
    with pytest.raises(programs.LabError):
        sluice.ask("reload")
    assert gauge(wire, "sluice_config_last_reload_successful")[1] == "0"
    assert gauge(wire, "sluice_config_info")[0] == hash_before
    programs.write(sluice.file, good | {"mode": "bypass"})
    sluice.ask("reload")
    assert gauge(wire, "sluice_config_last_reload_successful")[1] == "1"
    assert gauge(wire, "sluice_config_info")[0] != hash_before
    sluice.stop_and_check()


def panels():
    """Those of the dashboard that draw something."""
    return [panel for panel in json.loads((MONITORING / "grafana.json").read_text(encoding="utf-8"))["panels"] if panel["type"] != "row"]


def dashboard_queries():
    """Those of the dashboard, with a value for each of its variables."""
    queries = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [query.replace("$instance", ".*").replace("$__rate_interval", "1m") for query in queries]


def families(page):
    """Labels of each metric family."""
    found = {name: set() for name in re.findall(r"(?m)^# TYPE (\S+) ", page)}
    for name, labels in re.findall(r"(?m)^([a-z_]+)(?:\{(.*)\})? ", page):
        family = name if name in found else re.sub("_(bucket|count|sum)$", "", name)
        found[family] |= set(re.findall(r'(\w+)="', labels))
    return found


def test_alerts_fire_when_they_should():
    if not shutil.which("promtool"):
        pytest.skip("needs the program promtool")
    for words in (["check", "config", "prometheus.yaml"], ["test", "rules", "alerts-test.yaml"]):
        run = subprocess.run(["promtool", *words], cwd=MONITORING, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


def test_every_metric_is_on_the_dashboard_and_every_panel_has_metrics(wire):
    """Both ways: a panel or alert names metrics and labels of the page, and each metric of the page is on a panel, in an alert or
    a variable, or in the table of those that are left out."""
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", fail_open="bridge", metrics={"listen": LISTEN},
                             ipfix={"collector": "127.0.0.1:4739"})
    there = families(fetch(wire))
    sluice.stop_and_check()
    dashboard = (MONITORING / "grafana.json").read_text(encoding="utf-8")
    rules = (MONITORING / "alerts.yaml").read_text(encoding="utf-8")
    left_out = set(re.findall(r"(?m)^\| `((?:sluice|process)_\w+)` \| \S+", (MONITORING / "README.md").read_text(encoding="utf-8")))
    asked = {name if name in there else re.sub("_(bucket|count|sum)$", "", name)
             for name in re.findall(r"\b(?:sluice|process)_\w+", dashboard + rules)}
    assert asked - there.keys() == set(), "not of the program"
    assert there.keys() - asked == left_out, "neither on a panel nor left out with a reason, or both"
    for target in [target for panel in panels() for target in panel["targets"]]:
        names = re.findall(r"\b(?:sluice|process)_\w+", target["expr"])
        labels = set.union(*(there.get(name) or there[re.sub("_(bucket|count|sum)$", "", name)] for name in names)) | {"instance"}
        assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= labels, target


def test_panels_have_units_and_places_of_their_own():
    dashboard = json.loads((MONITORING / "grafana.json").read_text(encoding="utf-8"))
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    taken = [(x, y) for panel in dashboard["panels"] for at in [panel["gridPos"]]
             for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(set(taken)) == len(taken) and max(x for x, _ in taken) < 24
    for panel in panels():
        unit = panel["fieldConfig"]["defaults"]["unit"]
        assert unit in {"bps", "pps", "ops", "bytes", "s", "short", "percentunit"}, panel["title"]
        for target in panel["targets"]:
            expression = target["expr"]
            assert '{instance=~"$instance"' in expression, "the variable selects the proxies"
            is_rate = "rate(" in expression and " / " not in expression and "quantile" not in expression
            assert not is_rate or unit in {"bps", "pps", "ops", "percentunit", "short"}, panel["title"]
            assert (unit == "bps") == expression.startswith(("8 * ", "topk(10, 8 * ")), panel["title"]


def test_a_prometheus_scrapes_it(wire, server, tmp_path):
    if not shutil.which("prometheus"):
        pytest.skip("needs the program prometheus")
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", metrics={"listen": LISTEN})
    client(wire, server).download(MEGA)
    scrape = {"job_name": "sluice", "scrape_interval": "200ms", "scrape_timeout": "200ms", "static_configs": [{"targets": [LISTEN]}]}
    configuration = tmp_path / "prometheus.yaml"
    programs.write(configuration, {"scrape_configs": [scrape]})
    wire.box.start("prometheus", "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={tmp_path / 'data'}",
                   "--web.listen-address=127.0.0.1:9090").wait_for("ready to receive web requests", PATIENCE)

    def ask(query):
        page = fetch(wire, "/api/v1/query", "--get", "--data-urlencode", f"query={query}", listen="127.0.0.1:9090")
        answer = json.loads(page)
        assert answer["status"] == "success", answer
        return answer["data"]["result"]

    deadline = time.monotonic() + PATIENCE
    while not ask("sum(sluice_packets_total) == sum(sluice_received_frames_total) and sum(sluice_packets_total) > 0"):
        assert time.monotonic() < deadline, ask("sluice_packets_total")
        time.sleep(0.1)
    for query in dashboard_queries():
        ask(query)
    while not ask(dashboard_queries()[0]):  # a rate needs two scrapes
        assert time.monotonic() < deadline, "the first panel has nothing to draw"
        time.sleep(0.1)
    sluice.stop_and_check()
