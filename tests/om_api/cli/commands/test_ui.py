"""`om ui` finds the API on this machine, and says what to do where there is none."""

import http.server
import threading

import pytest
from click.testing import CliRunner
from ports import reserve_port

from om_api.cli.group import main


class _Api(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"status":"alive"}' if self.path == "/healthz" else b"[]"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Api) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_it_opens_the_pages_of_the_port_that_the_environment_names(port, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    said = CliRunner().invoke(main, ["ui"], env={"OM_API_PORT": str(port)})

    assert (said.exit_code, said.stdout.strip()) == (0, f"http://127.0.0.1:{port}/ui")
    assert opened == [f"http://127.0.0.1:{port}/ui"]


def test_without_a_browser_it_says_to_open_the_address(port, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    said = CliRunner().invoke(main, ["ui", "--port", str(port)])

    assert said.exit_code == 0
    assert "open the address yourself" in said.stderr


def test_where_nothing_answers_it_says_what_to_start():
    said = CliRunner().invoke(main, ["ui", "--print", "--port", str(reserve_port())])

    assert said.exit_code == 1
    assert "start one with `om up`, or with `om api`" in said.stderr
