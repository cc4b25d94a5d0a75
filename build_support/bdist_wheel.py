"""The bdist_wheel command: a wheel that carries static libraries also carries their bill of materials."""

import json
import os
from pathlib import Path

from setuptools.command import bdist_wheel as setuptools_bdist_wheel

from build_support import sbom


class bdist_wheel(setuptools_bdist_wheel.bdist_wheel):
    def egg2dist(self, egginfo_path, distinfo_path):
        """setuptools fills the .dist-info folder here, before anything is listed in RECORD."""
        super().egg2dist(egginfo_path, distinfo_path)
        sources = Path(os.environ.get("RECORDPRESS_PREFIX", ""), "sources.json")
        if os.environ.get("RECORDPRESS_PREFIX") and sources.exists():
            folder = Path(distinfo_path, "sboms")
            folder.mkdir()
            libraries = json.loads(sources.read_text())
            (folder / sbom.NAME).write_text(sbom.document(self.distribution.get_version(), libraries))
