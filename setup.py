"""The table of extension modules."""

import subprocess

from setuptools import Extension, setup

CODECS = ["libzstd", "liblz4", "snappy", "libdeflate"]

# module, libraries it calls
MODULES = [
    ("kpress._status", []),
    ("kpress._buffers", []),
    ("kpress.checksum", ["libdeflate"]),
]


def pkg_config(option, libraries):
    if not libraries:
        return []
    return subprocess.run(["pkg-config", option, *libraries], check=True, capture_output=True, text=True).stdout.split()


setup(
    ext_modules=[
        Extension(
            name,
            [f"src/{name.replace('.', '/')}.pyx"],
            include_dirs=["include", "src"],
            extra_compile_args=["-std=c11", "-O3", "-fvisibility=hidden", *pkg_config("--cflags", libraries)],
            extra_link_args=pkg_config("--libs", libraries),
        )
        for name, libraries in MODULES
    ]
)
