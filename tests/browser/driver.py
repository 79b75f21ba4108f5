"""A headless Chromium by its own driver (W3C WebDriver over HTTP): Python's library alone."""
import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Left": "\ue012", "Right": "\ue014", "Up": "\ue013", "Down": "\ue015", "Tab": "\ue004", "Enter": "\ue007", "Space": " ", "Home": "\ue011"}


def is_there():
    return bool(shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")))


class Browser:
    """One window. Methods raise where the driver answers with an error."""

    def __init__(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix="smsim-browser-")
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        binary = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        options = {"binary": binary, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                                              "--force-device-scale-factor=1", f"--user-data-dir={self.profile}"]}
        for _ in range(100):
            with contextlib.suppress(OSError, urllib.error.URLError):
                self.session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
                    "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})["sessionId"]
                break
            time.sleep(0.1)
        if not self.session:
            raise RuntimeError("chromedriver does not answer")

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{method} {path}: {value['error']}: {value['message'][:300]}") from None

    def at(self, method, path, body=None):
        return self.ask(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, **params):
        return self.at("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def size(self, width, height, dark=False, media="screen"):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, address):
        self.at("POST", "/url", {"url": address})
        self.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def run(self, script, *arguments):
        return self.at("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, css):
        return self.at("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def text(self, css):
        return self.at("GET", f"/element/{self.find(css)}/text")

    def click(self, css):
        self.at("POST", f"/element/{self.find(css)}/click", {})

    def type(self, css, text):
        element = self.find(css)
        self.at("POST", f"/element/{element}/clear", {})
        self.at("POST", f"/element/{element}/value", {"text": text})

    def keys(self, *names):
        actions = []
        for name in names:
            key = KEYS.get(name, name)
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.at("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def until(self, script, what, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            if self.run(script):
                return
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {what}")

    def errors(self):
        """What the page's scripts threw, and what the browser refused."""
        return [e["message"] for e in self.at("POST", "/se/log", {"type": "browser"}) if e["level"] == "SEVERE"]

    def picture(self, path, whole=True):
        data = self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **(
            {"clip": {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": self.run("return document.documentElement.scrollHeight"), "scale": 1}} if whole else {}))
        with open(path, "wb") as out:
            out.write(base64.b64decode(data["data"]))

    def printed(self):
        """The page as PDF."""
        return base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"])

    def close(self):
        with contextlib.suppress(Exception):
            if self.session:
                self.at("DELETE", "")
        self.driver.terminate()
        self.driver.wait(timeout=10)
        shutil.rmtree(self.profile, ignore_errors=True)
