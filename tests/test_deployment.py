"""What `docs/deploy` holds can be read by what it is made for, and keeps the rules of a server that others reach."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml

from workbench.cli import app

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "deploy"
UNITS = sorted((FOLDER / "systemd").iterdir())
TEXTS = {"type": "array", "items": {"type": "string"}}
SERVICE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["image", "networks"],
    "properties": {
        "image": {"type": "string", "pattern": r"^[\w./-]+:v?\d[\w.-]*$"},
        "build": {
            "type": "object",
            "additionalProperties": False,
            "required": ["context", "dockerfile"],
            "properties": {"context": {"type": "string"}, "dockerfile": {"type": "string"}},
        },
        "command": TEXTS,
        "profiles": TEXTS,
        "restart": {"enum": ["unless-stopped", "always", "on-failure"]},
        "read_only": {"const": True},
        "tmpfs": TEXTS,
        "cap_drop": {"const": ["ALL"]},
        "security_opt": {"const": ["no-new-privileges:true"]},
        "environment": {"type": "object", "additionalProperties": {"type": "string"}},
        "volumes": TEXTS,
        "ports": TEXTS,
        "secrets": TEXTS,
        "networks": {"type": ["array", "object"]},
        "mem_limit": {"type": "string", "pattern": r"^\d+[mg]$"},
        "stop_grace_period": {"type": "string", "pattern": r"^\d+s$"},
        "depends_on": {"type": ["array", "object"]},
        "healthcheck": {
            "type": "object",
            "additionalProperties": False,
            "required": ["test", "interval", "timeout", "retries"],
            "properties": {
                "test": TEXTS,
                "interval": {"type": "string"},
                "timeout": {"type": "string"},
                "retries": {"type": "integer"},
                "start_period": {"type": "string"},
            },
        },
    },
}
"""What a service may say, of the Compose Specification; the patterns are rules of ours."""


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    return found


def services(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose["services"]
    return found


def parsed(words: list[str]) -> Any:
    """The command line of the workbench as the command itself reads it; nothing runs."""
    assert words[0].rpartition("/")[2] == "workbench"
    group: Any = typer.main.get_command(app)
    command = group.commands[words[1]]
    return command.make_context(words[1], list(words[2:]), resilient_parsing=False).params


def test_every_service_has_the_form_and_keeps_the_rules(compose: dict[str, Any]) -> None:
    assert set(compose) == {"name", "x-locked", "services", "secrets", "networks", "volumes"}
    for name, service in services(compose).items():
        jsonschema.validate(service, SERVICE)
        networks, volumes = set(service["networks"]), [one.partition(":")[0] for one in service.get("volumes", [])]
        assert networks <= set(compose["networks"]), name
        assert {one for one in volumes if not one.startswith(".")} <= set(compose["volumes"]), name
        assert all((FOLDER / one).exists() for one in volumes if one.startswith(".")), name
        assert set(service.get("depends_on", ())) <= set(services(compose)), name
        assert set(service.get("secrets", ())) <= set(compose["secrets"]), name
        if name != "proxy":
            assert service["read_only"], name
            assert service["cap_drop"] == ["ALL"], name


def test_only_the_proxy_is_open_and_a_scheduler_has_no_way_out(compose: dict[str, Any]) -> None:
    for name, service in services(compose).items():
        if name != "proxy":
            assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        if name.startswith("dask-"):
            assert service["networks"] == ["cluster"]
            assert "ports" not in service
        if "ports" in service:  # Docker publishes no port of a container whose networks are all internal
            assert "outside" in service["networks"], name
    assert compose["networks"]["cluster"] == {"internal": True}
    assert compose["networks"]["front"] == {"internal": True}


def test_the_larger_server_does_not_start_the_plain_one_again(compose: dict[str, Any]) -> None:
    """Without names `up` starts all services that have no profile, and two servers would share the name."""
    for path in (FOLDER / "compose.yaml", FOLDER.parent / "how-to/deploy.md"):
        lines = re.findall(r"--profile more up -d(.*)$", path.read_text("utf-8"), re.M)
        assert lines
        for line in lines:
            begun = set(line.split())
            for name in [*begun]:
                begun |= set(services(compose)[name].get("depends_on", ()))
            assert begun == {name for name, one in services(compose).items() if one.get("profiles") == ["more"]}


def test_no_secret_is_in_a_file() -> None:
    for path in FOLDER.rglob("*"):
        text = path.read_text("utf-8") if path.is_file() else ""
        for name, value in re.findall(r"(\w*(?:SECRET|PASSWORD|KEY)\w*)\s*(?:=|:\s)\s*(\S+)", text):
            assert value.startswith(("$", "os.environ", "...")), (path.name, name)
        assert not re.search(r"\bwb_[a-z0-9]{8}_", text)


def test_the_commands_of_the_containers_read_their_options(compose: dict[str, Any]) -> None:
    read = {
        name: parsed([re.sub(r"\$\{\w+:[?-]([^}]*)\}", r"x", word) for word in service["command"]])
        for name, service in services(compose).items()
        if service.get("command", [""])[0] == "workbench"
    }
    assert set(read) == {"workbench", "workbench-more"}
    assert {one["host"] for one in read.values()} == {"0.0.0.0"}
    more = read["workbench-more"]
    assert (more["metrics"], more["executor"], more["oidc_client"]) == (True, "dask://dask-scheduler:8786", "x")


def test_the_images_are_built_from_files_that_are_there(compose: dict[str, Any]) -> None:
    for service in services(compose).values():
        if "build" in service:
            build = service["build"]
            assert (FOLDER / build["context"] / build["dockerfile"]).resolve().exists()
    text = (FOLDER / "more.Containerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} == {"FROM", "USER", "RUN"}
    assert lines[0] == f"FROM {services(compose)['workbench']['image']}"
    assert lines[-1] == "USER workbench", "it must not run as root"
    assert all(
        "==" in word for word in re.findall(r"(?<= )(?:distributed|prometheus-client|authlib)\S*", text)[-3:]
    )


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_what_a_unit_starts_reads_its_options(unit: Path) -> None:
    lines = re.findall(r"^ExecStart=(.*)$", unit.read_text("utf-8"), re.M)
    assert len(lines) == (0 if unit.suffix == ".timer" else 1)
    for line in lines:
        for part in re.split(r"[;']", line.replace("$$", "$").replace("%%", "%").replace("%i", "1")):
            words = shlex.split(part.replace('"$to"', "/srv/backup/lab.db")) if "bin/workbench" in part else []
            if words:
                assert words[0] == "/opt/workbench/bin/workbench"
                assert "store" in parsed(words)


@pytest.mark.parametrize("unit", [one for one in UNITS if one.suffix == ".service"], ids=lambda path: path.name)
def test_a_service_has_no_right_that_it_does_not_need(unit: Path) -> None:
    said = dict(re.findall(r"^(\w+)=(.*)$", unit.read_text("utf-8"), re.M))
    assert (said["User"], said["NoNewPrivileges"], said["ProtectSystem"]) == ("workbench", "yes", "strict")
    assert (said["CapabilityBoundingSet"], said["UMask"]) == ("", "0077")
    if "/tmp" in said["ExecStart"]:
        assert said["PrivateTmp"] == "yes", "strict leaves /tmp to read only"
    if "dask" in unit.name:
        assert (said["IPAddressDeny"], said["IPAddressAllow"]) == ("any", "localhost")


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    for unit in UNITS:  # the programs are not installed here, so something that is takes their place
        text = re.sub(r"^(ExecStart=)/opt/workbench/bin/\w+", r"\1/bin/true", unit.read_text("utf-8"), flags=re.M)
        (tmp_path / unit.name).write_text(text)
    paths = [str(tmp_path / unit.name) for unit in UNITS]
    done = subprocess.run(
        [analyze, "verify", "--man=no", *paths], capture_output=True, text=True, timeout=120, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "workbench" in line]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_the_proxy_and_prometheus_ask_where_the_server_listens(compose: dict[str, Any]) -> None:
    proxy = (FOLDER / "Caddyfile").read_text("utf-8")
    assert proxy.count("{") == proxy.count("}")
    assert "reverse_proxy workbench:8765" in proxy
    assert "health_uri /readyz" in proxy
    (job,) = yaml.safe_load((FOLDER / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    assert (job["metrics_path"], job["static_configs"]) == ("/metrics", [{"targets": ["workbench:8765"]}])
    assert job["authorization"]["credentials_file"] == "/run/secrets/workbench_admin_key"
    assert "workbench_admin_key" in services(compose)["prometheus"]["secrets"]
    assert services(compose)["workbench-more"]["networks"]["front"] == {"aliases": ["workbench"]}


def test_the_configuration_of_the_hub_runs_and_keeps_strangers_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Section:
        """Takes every setting, as JupyterHub's does."""

        def __getattr__(self, name: str) -> Section:
            made = Section()
            self.__dict__[name] = made
            return made

    for name in ("CLIENT", "SECRET", "AUTHORIZE", "TOKEN", "USERINFO"):
        monkeypatch.setenv(f"HUB_OIDC_{name}", name.lower())
    monkeypatch.setenv("HUB_USERS", "ada@lab.example eve@lab.example")
    c = Section()
    text = (FOLDER / "jupyterhub" / "jupyterhub_config.py").read_text("utf-8")
    exec(compile(text, "jupyterhub_config.py", "exec"), {"get_config": lambda: c})
    assert c.GenericOAuthenticator.allowed_users == {"ada@lab.example", "eve@lab.example"}
    assert c.GenericOAuthenticator.allow_all is False
    assert str(c.JupyterHub.bind_url).startswith("http://127.0.0.1:")


def test_the_page_names_every_file() -> None:
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
    for path in FOLDER.rglob("*"):
        if path.is_file():
            assert path.name in page or f"{path.parent.name}/" in page, path
