"""A browser without a window, driven as a person would use it: Chromium inside a namespace of a lab."""

import contextlib
import shutil
import time

from lab import LabError

DRIVER_PORT = 9515


def why_not():
    """The reason this machine has no browser to drive, or None."""
    for tool in ("chromium", "chromedriver"):
        if not shutil.which(tool):
            return f"needs the program {tool}"
    try:
        import selenium  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        return "needs python3-selenium"
    return None


class Browser:
    """One page in one namespace. What a person sees is looked for by text and role."""

    def __init__(self, namespace, log_dir):
        self._namespace = namespace
        self._service = namespace.start("chromedriver", "chromedriver", f"--port={DRIVER_PORT}",
                                        environment={"HOME": str(log_dir)})
        self._service.wait_for("was started successfully", timeout=45)
        with self._inside() as webdriver:
            self.driver = webdriver.Remote(f"http://127.0.0.1:{DRIVER_PORT}", options=self._options(webdriver, log_dir))
            self.driver.command_executor._commands["devtools"] = ("POST", "/session/$sessionId/goog/cdp/execute")

    @staticmethod
    def _options(webdriver, log_dir):
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     f"--user-data-dir={log_dir / 'chromium'}"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        return options

    @contextlib.contextmanager
    def _inside(self):
        """Connections to the driver are made in its namespace."""
        from selenium import webdriver  # pylint: disable=import-outside-toplevel
        with self._namespace.entered():
            yield webdriver

    def do(self, action):
        """What action(driver) says."""
        with self._inside():
            return action(self.driver)

    def open(self, address):
        self.do(lambda driver: driver.get(address))

    def text(self, css):
        """What an element shows; "" where there is none."""
        def look(driver):
            found = driver.find_elements("css selector", css)
            return found[0].text if found else ""
        return self.do(look)

    def click(self, label):
        """The button that says so."""
        self.do(lambda driver: driver.find_element("xpath", f"//button[normalize-space()='{label}']").click())

    def type_into(self, css, text):
        self.do(lambda driver: driver.find_element("css selector", css).send_keys(text))

    def wait(self, what, condition, timeout):
        """Until condition() holds; returns what it says."""
        deadline = time.monotonic() + timeout
        while not (value := condition()):
            if time.monotonic() > deadline:
                raise LabError(f"the page does not show {what}: {self.text('body')[:2000]}")
            time.sleep(0.1)
        return value

    def size(self, width, height, dark):
        """The window as a device has it."""
        self._command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", features=[theme])

    def _command(self, name, **parameters):
        """One of the browser's own protocol."""
        self.do(lambda driver: driver.execute("devtools", {"cmd": name, "params": parameters}))

    def complaints(self):
        """Errors of scripts, what the page's own policy refused, and resources that were not to be had."""
        entries = self.do(lambda driver: driver.get_log("browser"))
        return [entry["message"] for entry in entries if not entry["message"].startswith("chrome://")]  # of its own pages

    def close(self):
        with contextlib.suppress(Exception):
            self.do(lambda driver: driver.quit())
        self._service.stop()
