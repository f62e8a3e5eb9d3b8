"""The Kubernetes manifests against the API: every field exists, every value has its type, what is required is there, and the
names that refer to each other are the same."""

import json
from pathlib import Path

import pytest
import yaml

models = pytest.importorskip("kubernetes.client.models", reason="needs python3-kubernetes")

FOLDER = Path(__file__).resolve().parents[2] / "configs/kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
KINDS = {("v1", "Namespace"): "V1Namespace", ("v1", "ConfigMap"): "V1ConfigMap", ("apps/v1", "StatefulSet"): "V1StatefulSet"}
SIMPLE = {"str": str, "int": int, "bool": bool, "float": (int, float)}
# Values that the API takes as text or number.
EITHER = {"IntOrString": (int, str), "object": object}


def problems(value, kind, place="$"):
    """What is wrong with a value that is to be of a kind as the API's description names kinds."""
    if kind in SIMPLE or kind in EITHER:
        expected = {**SIMPLE, **EITHER}[kind]
        wrong = not isinstance(value, expected) or (kind == "int" and isinstance(value, bool))
        return [f"{place}: expected {kind}, got {value!r}"] if wrong else []
    if kind.startswith("list["):
        if not isinstance(value, list):
            return [f"{place}: expected a list"]
        return [p for i, one in enumerate(value) for p in problems(one, kind[5:-1], f"{place}[{i}]")]
    if not isinstance(value, dict):
        return [f"{place}: expected a map"]
    if kind.startswith("dict("):
        inner = kind[5:-1].split(", ", 1)[1]
        return [p for key, one in value.items() for p in problems(one, inner, f"{place}.{key}")]
    return object_problems(value, getattr(models, kind), place)


def object_problems(value, model, place):
    fields = {name: key for key, name in model.attribute_map.items()}
    found = [f"{place}.{name}: unknown" for name in value if name not in fields]
    for name in value.keys() & fields.keys():
        found += problems(value[name], model.openapi_types[fields[name]], f"{place}.{name}")
    try:  # the description's other rules, what is required for one
        model(**{fields[name]: one for name, one in value.items() if name in fields})
    except ValueError as error:
        found.append(f"{place}: {error}")
    return found


def documents(file):
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def of_kind(file, kind):
    return [one for one in documents(file) if one["kind"] == kind]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_object_is_one_of_the_api(file):
    assert len(documents(file)) == 5
    for one in documents(file):
        if one["kind"] == "NetworkAttachmentDefinition":  # of Multus: its configuration is text
            assert set(one) == {"apiVersion", "kind", "metadata", "spec"} and set(one["spec"]) == {"config"}
            assert problems(one["metadata"], "V1ObjectMeta") == []
            assert {"cniVersion", "name", "type"} <= set(json.loads(one["spec"]["config"]))
        else:
            assert problems(one, KINDS[one["apiVersion"], one["kind"]]) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_refers_to_something_finds_it(file):
    (pod,) = [one["spec"]["template"] for one in of_kind(file, "StatefulSet")]
    networks = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    for network in of_kind(file, "NetworkAttachmentDefinition"):
        assert network["metadata"]["name"] in networks
    (container,) = pod["spec"]["containers"]
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    (configuration,) = of_kind(file, "ConfigMap")
    assert configuration["metadata"]["name"] in [volume.get("configMap", {}).get("name") for volume in pod["spec"]["volumes"]]
    settings = yaml.safe_load(configuration["data"]["sluice.yaml"])
    assert {"name": "SLUICE_SOCKET", "value": settings["admin"]["socket"]} in container["env"]
    assert settings["metrics"]["listen"].endswith(f":{container['ports'][0]['containerPort']}")
    assert pod["spec"]["terminationGracePeriodSeconds"] > int(settings["stop"]["drain"].removesuffix("s"))


def test_a_manifest_with_errors_is_refused():
    (good,) = of_kind(FILES[0], "StatefulSet")
    kind = KINDS["apps/v1", "StatefulSet"]
    for damage, expected in (
            (lambda spec: spec.update(replica=1), "$.spec.replica: unknown"),
            (lambda spec: spec.update(replicas="one"), "$.spec.replicas: expected int, got 'one'"),
            (lambda spec: spec.pop("selector"), "$.spec: Invalid value for `selector`, must not be `None`"),
            (lambda spec: spec["template"]["spec"]["containers"][0].pop("name"),
             "$.spec.template.spec.containers[0]: Invalid value for `name`, must not be `None`")):
        bad = json.loads(json.dumps(good))
        damage(bad["spec"])
        assert problems(bad, kind) == [expected]
