"""The Helm chart, rendered by Helm: with its default values it makes the objects of the plain manifests, each value changes what
its name says, and a value that does not exist is refused."""

import copy
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
import programs  # noqa: E402
from test_kubernetes import KINDS, problems  # noqa: E402

CHART = programs.ROOT / "configs/helm/sluice"
PLAIN = programs.ROOT / "configs/kubernetes"
VERSION = "v3.19.0"
BUILD_SECONDS = 900
# Labels that Helm's conventions ask for, which the plain manifests do not have.
OWN_LABELS = {"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"}
API = {**KINDS, ("v1", "Service"): "V1Service", ("apps/v1", "DaemonSet"): "V1DaemonSet"}


@pytest.fixture(scope="session")
def helm():
    """The program of this machine, or one that Go's module proxy has given once: it is kept beside other caches."""
    if shutil.which("helm"):
        return "helm"
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sluice"
    kept = folder / f"helm-{VERSION}"
    if not shutil.which("go") and not kept.exists():
        pytest.skip("needs helm, or go to build it")
    folder.mkdir(parents=True, exist_ok=True)
    with open(f"{kept}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            build_helm(folder, kept)
    return str(kept)


def build_helm(folder, kept):
    try:
        run = subprocess.run(["nice", "go", "install", f"helm.sh/helm/v3/cmd/helm@{VERSION}"], capture_output=True, text=True,
                             timeout=BUILD_SECONDS, check=False, env={**os.environ, "GOBIN": str(folder / "bin"), "GOFLAGS": "-mod=mod"})
    except subprocess.TimeoutExpired:
        pytest.skip(f"helm {VERSION} was not built within {BUILD_SECONDS} s")
    if run.returncode:
        pytest.skip(f"helm {VERSION} cannot be built here: {run.stderr.strip()[-300:]}")
    (folder / "bin/helm").rename(kept)


@pytest.fixture
def template(helm, tmp_path):
    """Renders the chart with values. Returns the objects by their kind and name, or the error."""
    def render(values=None, *words, release="sluice"):
        file = tmp_path / "values.yaml"
        file.write_text(yaml.safe_dump(values or {}), encoding="utf-8")
        run = subprocess.run([helm, "template", release, CHART, "--namespace", "sluice", *map(str, words), "--values", file],
                             capture_output=True, text=True, check=False, timeout=60, env={**os.environ, "HOME": str(tmp_path)})
        if run.returncode:
            return run.stderr
        return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(run.stdout) if one}
    return render


def workload(objects):
    (one,) = [one for (kind, _), one in objects.items() if kind in ("StatefulSet", "DaemonSet")]
    return one


def pod(objects):
    return workload(objects)["spec"]["template"]["spec"]


def container(objects):
    (one,) = pod(objects)["containers"]
    return one


def configuration(objects):
    """The program's file."""
    (one,) = [one for (kind, _), one in objects.items() if kind == "ConfigMap"]
    return yaml.safe_load(one["data"]["sluice.yaml"])


def compared(objects):
    """Without Helm's own labels, with the program's file and the networks' configurations as maps."""
    left = copy.deepcopy(objects)

    def strip(value):
        if isinstance(value, dict):
            for name in OWN_LABELS & value.keys():
                del value[name]
            for inner in value.values():
                strip(inner)
        elif isinstance(value, list):
            for inner in value:
                strip(inner)

    for (kind, _), one in left.items():
        strip(one)
        if not one["metadata"].get("labels", True):
            del one["metadata"]["labels"]
        if kind == "ConfigMap":
            one["data"]["sluice.yaml"] = yaml.safe_load(one["data"]["sluice.yaml"])
        if kind == "NetworkAttachmentDefinition":
            one["spec"]["config"] = json.loads(one["spec"]["config"])
        if kind != "StatefulSet":  # the plain manifests label only what has pods
            one["metadata"].pop("labels", None)
    return left


@pytest.mark.parametrize("plain, values", [("kernel-ports.yaml", []), ("sriov.yaml", ["--values", CHART / "values-sriov.yaml"])])
def test_the_objects_are_those_of_the_plain_manifests(template, plain, values):
    documents = yaml.safe_load_all((PLAIN / plain).read_text(encoding="utf-8"))
    expected = {(one["kind"], one["metadata"]["name"]): one for one in documents if one["kind"] != "Namespace"}
    assert compared(template(None, *values)) == compared(expected)


EVERYTHING = {"metrics": {"serviceMonitor": {"enabled": True}}, "secrets": {"pageToken": "page", "feedbackKeys": "keys"},
              "tolerations": [{"key": "wire", "operator": "Exists"}], "imagePullSecrets": [{"name": "registry"}]}


@pytest.mark.parametrize("file", [None, "values-sriov.yaml", "values-host.yaml"])
def test_every_object_is_one_of_the_api_and_the_program_accepts_its_file(template, tmp_path, file):
    objects = template(EVERYTHING, *(["--values", CHART / file] if file else []))
    for one in objects.values():
        kind = API.get((one["apiVersion"], one["kind"]))
        assert (kind is None) == (one["kind"] in ("NetworkAttachmentDefinition", "ServiceMonitor")), one["kind"]
        assert problems(one, kind) == [] if kind else problems(one["metadata"], "V1ObjectMeta") == []
    labels = workload(objects)["spec"]["template"]["metadata"]["labels"]
    assert workload(objects)["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert {mount["name"] for mount in container(objects)["volumeMounts"]} == {volume["name"] for volume in pod(objects)["volumes"]}
    wanted = configuration(objects)
    for side, address in (("radio", "0000:03:02.0"), ("core", "0000:03:0a.1")):  # as the pod's first command does
        wanted["ports"][side]["device"] = wanted["ports"][side]["device"].replace(f"{side.upper()}_ADDRESS", address)
    if not programs.program("sluice").is_file():
        pytest.skip("needs build/release/bin/sluice to check the file of the program")
    (tmp_path / "token").write_text("0" * 32, encoding="ascii")
    (tmp_path / "token").chmod(0o440)
    assert wanted["page"] == {"token_file": "/etc/sluice-page/token"}
    wanted["page"]["token_file"] = str(tmp_path / "token")
    (tmp_path / "sluice.yaml").write_text(yaml.safe_dump(wanted), encoding="utf-8")
    run = subprocess.run([programs.program("sluice"), "--check", tmp_path / "sluice.yaml"], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and run.stdout.endswith("OK\n"), run.stdout + run.stderr


def difference(before, after, place=()):
    """Places at which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {found for key in before.keys() | after.keys()
                for found in difference(before.get(key), after.get(key), (*place, str(key)))}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return {found for i, (a, b) in enumerate(zip(before, after)) for found in difference(a, b, (*place, str(i)))}
    return set() if before == after else {place}


POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", "0")
FILE = ("data", "sluice.yaml")
MOUNTS = {(*POD, "volumes"), (*CONTAINER, "volumeMounts")}
ANNOTATIONS = ("spec", "template", "metadata", "annotations")


# What is set, and what alone differs then, with the value there where the place has one.
@pytest.mark.parametrize("values, expected", [
    ({"image": {"repository": "r.example/sluice"}}, {(*CONTAINER, "image"): "r.example/sluice:0.1.0"}),
    ({"image": {"tag": "1.2"}}, {(*CONTAINER, "image"): "sluice:1.2"}),
    ({"image": {"pullPolicy": "Always"}}, {(*CONTAINER, "imagePullPolicy"): "Always"}),
    ({"imagePullSecrets": [{"name": "r"}]}, {(*POD, "imagePullSecrets"): [{"name": "r"}]}),
    ({"ports": {"radio": {"interface": "eth7"}}}, {("spec", "config", "device"): "eth7"}),
    ({"ports": {"core": {"options": {"mtu": 9000}}}}, {(*FILE, "ports", "core", "mtu"): 9000}),
    ({"mode": "observe"}, {(*FILE, "mode"): "observe"}),
    ({"config": {"smvs": {"law": "reports"}}}, {(*FILE, "smvs", "law"): "reports"}),
    ({"config": {"eal": {"memory": "1GiB"}}}, {(*FILE, "eal"): {"memory": "1GiB"}}),
    ({"drainSeconds": 60}, {(*FILE, "stop", "drain"): "60s", (*POD, "terminationGracePeriodSeconds"): 70}),
    ({"hugePages": {"amount": "512Mi", "size": "2Mi"}},
     {(*FILE, "eal"): {"hugepages": True}, (*CONTAINER, "resources", "requests", "hugepages-2Mi"): "512Mi",
      (*CONTAINER, "resources", "limits", "hugepages-2Mi"): "512Mi", **dict.fromkeys(MOUNTS)}),
    ({"resources": {"limits": {"memory": "3Gi"}}}, {(*CONTAINER, "resources", "limits", "memory"): "3Gi"}),
    ({"resources": {"requests": {"cpu": "1"}}}, {(*CONTAINER, "resources", "requests", "cpu"): "1"}),
    ({"metrics": {"port": 9000}}, {(*FILE, "metrics", "listen"): "0.0.0.0:9000", (*CONTAINER, "ports", "0", "containerPort"): 9000,
                                   (*ANNOTATIONS, "prometheus.io/port"): "9000"}),
    ({"metrics": {"annotations": False}}, {(*ANNOTATIONS, "prometheus.io/port"): None, (*ANNOTATIONS, "prometheus.io/scrape"): None}),
    ({"restartOnChange": True}, {(*ANNOTATIONS, "checksum/configuration"): ...}),
    ({"secrets": {"pageToken": "t"}}, {(*FILE, "page"): {"token_file": "/etc/sluice-page/token"}, **dict.fromkeys(MOUNTS)}),
    ({"secrets": {"feedbackKeys": "k"}}, dict.fromkeys(MOUNTS)),
    ({"nodeSelector": {"sluice.wire": "there"}}, {(*POD, "nodeSelector", "sluice.wire"): "there"}),
    ({"tolerations": [{"operator": "Exists"}]}, {(*POD, "tolerations"): [{"operator": "Exists"}]}),
    ({"podAnnotations": {"a": "b"}}, {(*ANNOTATIONS, "a"): "b"}),
], ids=lambda values: str(values) if isinstance(values, dict) and not any(isinstance(key, tuple) for key in values) else "")
def test_a_value_changes_what_its_name_says_and_nothing_else(template, values, expected):
    before, after = compared(template()), compared(template(values))
    assert before.keys() == after.keys()
    changed = {place: at for kind in before for place in difference(before[kind], after[kind]) for at in [after[kind]]}
    assert changed.keys() == expected.keys()
    for place, value in expected.items():
        found = changed[place]
        for key in place:
            found = found[int(key)] if isinstance(found, list) else found.get(key)
        assert value is ... or place in MOUNTS or found == value, place


def test_secrets_are_files_that_only_the_program_reads(template):
    objects = template({"secrets": {"pageToken": "t", "feedbackKeys": "k"}})
    secrets = {volume["name"]: volume["secret"] for volume in pod(objects)["volumes"] if "secret" in volume}
    assert secrets == {"page": {"secretName": "t", "defaultMode": 0o440}, "keys": {"secretName": "k", "defaultMode": 0o440}}
    mounts = {mount["name"]: mount["mountPath"] for mount in container(objects)["volumeMounts"]}
    assert (mounts["page"], mounts["keys"]) == ("/etc/sluice-page", "/etc/sluice-keys")


def test_a_service_and_a_monitor_find_the_pods(template):
    assert ("Service", "sluice") not in template()
    objects = template({"metrics": {"service": True, "port": 9000}})
    (service,) = [one for (kind, _), one in objects.items() if kind == "Service"]
    assert service["spec"]["selector"] == workload(objects)["spec"]["selector"]["matchLabels"]
    assert service["spec"]["ports"] == [{"name": "metrics", "port": 9000, "targetPort": container(objects)["ports"][0]["name"]}]
    assert not any(kind == "ServiceMonitor" for kind, _ in objects)
    objects = template({"metrics": {"serviceMonitor": {"enabled": True, "interval": "5s", "labels": {"release": "prometheus"}}}})
    monitor, service = objects["ServiceMonitor", "sluice"], objects["Service", "sluice"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"] == [{"port": "metrics", "interval": "5s"}]
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert service["metadata"]["labels"][monitor["spec"]["jobLabel"]] == "sluice", "the alerts ask for the job sluice"


def test_alerts_and_dashboard_are_those_of_the_repository(template):
    assert not any(kind == "PrometheusRule" or name == "sluice-dashboard" for kind, name in template())
    objects = template({"metrics": {"rules": {"enabled": True, "labels": {"release": "prometheus"}}, "dashboard": {"enabled": True}}})
    rules, dashboard = objects["PrometheusRule", "sluice"], objects["ConfigMap", "sluice-dashboard"]
    monitoring = programs.ROOT / "configs/monitoring"
    assert rules["spec"] == yaml.safe_load((monitoring / "alerts.yaml").read_text(encoding="utf-8"))
    assert rules["metadata"]["labels"]["release"] == "prometheus"
    assert json.loads(dashboard["data"]["sluice.json"]) == json.loads((monitoring / "grafana.json").read_text(encoding="utf-8"))
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert problems(dashboard, "V1ConfigMap") == []


def test_a_package_of_the_chart_has_its_files(helm, tmp_path):
    """The files of configs/monitoring are links in the repository."""
    subprocess.run([helm, "package", CHART, "--destination", tmp_path], capture_output=True, check=True, env={**os.environ, "HOME": str(tmp_path)})
    with tarfile.open(tmp_path / "sluice-0.1.0.tgz") as archive:
        for name in ("alerts.yaml", "grafana.json"):
            packed = archive.getmember(f"sluice/files/{name}")
            assert packed.isfile() and archive.extractfile(packed).read() == (programs.ROOT / "configs/monitoring" / name).read_bytes()


def test_ports_of_the_node_fail_open(template):
    """Each selected node has a pod in the node's own network, in which the program is not process 1."""
    objects = template(None, "--values", CHART / "values-host.yaml")
    assert workload(objects)["kind"] == "DaemonSet"
    assert workload(objects)["spec"].keys() == {"selector", "template"}
    assert not any(kind == "NetworkAttachmentDefinition" for kind, _ in objects)
    assert pod(objects)["hostNetwork"] is pod(objects)["shareProcessNamespace"] is True
    assert configuration(objects)["fail_open"] == "bridge"
    assert configuration(objects)["ports"] == {
        "radio": {"device": "net_af_packet0,iface=ens4", "fix_offloads": True},
        "core": {"device": "net_af_packet1,iface=ens5", "fix_offloads": True}}
    assert "shareProcessNamespace" not in pod(template()), "no other kind of ports has fail_open"


def test_a_second_release_has_names_of_its_own(template):
    first, second = template(), template(release="west")
    assert not first.keys() & second.keys()
    selector = workload(second)["spec"]["selector"]["matchLabels"]
    assert selector != workload(first)["spec"]["selector"]["matchLabels"]
    networks = json.loads(workload(second)["spec"]["template"]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"])
    assert {("NetworkAttachmentDefinition", network["name"]) for network in networks} <= second.keys()


@pytest.mark.parametrize("values, expected", [
    ({"mdoe": "smvs"}, "mdoe"),
    ({"ports": {"radio": {"iface": "eth0"}}}, "iface"),
    ({"ports": {"kind": "dpdk"}}, "kind"),
    ({"ports": {"radio": {"interface": "eth0,iface=eth1"}}}, "interface"),
    ({"ports": {"kind": "sriov"}}, "resource"),
    ({"failOpen": "bridge"}, "kind"),
    ({"config": {"mode": "smvs"}}, "config"),
    ({"config": {"admin": {"socket": "/x"}}}, "config"),
    ({"ports": {"radio": {"options": {"device": "net_null0"}}}}, "options"),
    ({"drainSeconds": "10s"}, "drainSeconds"),
    ({"resources": {"limit": {}}}, "limit"),
    ({"metrics": {"port": 0}}, "port"),
    ({"metrics": {"serviceMonitor": {"on": True}}}, "on"),
    ({"metrics": {"rules": {"on": True}}}, "on"),
    ({"secrets": {"token": "t"}}, "token"),
    ({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy"),
], ids=lambda values: str(values) if isinstance(values, dict) and not any(isinstance(key, tuple) for key in values) else "")
def test_a_wrong_value_is_refused_by_its_name(template, values, expected):
    error = template(values)
    assert isinstance(error, str) and expected in error, error


def test_one_pool_for_both_ports_is_refused(template):
    one = {"resource": "intel.com/sluice"}
    error = template({"ports": {"kind": "sriov", "radio": one, "core": one}})
    assert isinstance(error, str) and "a pool of virtual functions for each port" in error


def test_the_chart_has_no_warning(helm, tmp_path):
    run = subprocess.run([helm, "lint", "--strict", CHART], capture_output=True, text=True, check=False, env={**os.environ, "HOME": str(tmp_path)})
    assert run.returncode == 0, run.stdout + run.stderr
