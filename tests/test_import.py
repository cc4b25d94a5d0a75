"""What `import kpress` may cost: nothing but the standard library and our own modules."""

import subprocess
import sys

SCRIPT = """
import sys
before = set(sys.modules)
import kpress
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def test_import_loads_no_other_package():
    printed = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True).stdout
    assert "kpress" in printed.split()
    ours = {"kpress", "cython_runtime"}
    strangers = {name for name in printed.split() if name not in sys.stdlib_module_names | ours}
    assert {name for name in strangers if not name.startswith("_cython_")} == set()
