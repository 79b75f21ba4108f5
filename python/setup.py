"""Puts libsmsim and its data into the package: `make lib` builds it in the repository around."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r'VERSION_TEXT "(.*)"', (ROOT / "src/base/release.h").read_text())


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        build = Path(os.environ.get("SMSIM_BUILD", ROOT / "build"))
        if "SMSIM_BUILD" not in os.environ:
            subprocess.run(["make", f"-j{os.cpu_count()}", "build/libsmsim.so"], cwd=ROOT, check=True)
        package = Path(self.build_lib) / "smsim"
        shutil.copy(build / "libsmsim.so.0", package)
        for folder in ("models", "topologies", "scenarios", "schemas"):
            shutil.copytree(ROOT / folder, package / "share/smsim" / folder, dirs_exist_ok=True)
        (package / "share/smsim/validate").mkdir(exist_ok=True)
        shutil.copy(ROOT / "validate/applicability.json", package / "share/smsim/validate")


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(
    version=VERSION.group(1),
    package_data={"smsim": ["py.typed"]},
    cmdclass={"build_py": BuildWithLibrary},
    distclass=PlatformDistribution,
)
