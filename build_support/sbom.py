"""The software bill of materials of a wheel: recordpress and the C libraries in it, as CycloneDX 1.6 (ECMA-424) in
JSON.

PEP 770: it lies in .dist-info/sboms. Nothing in it depends on when or where it was made, so the same sources give the
same bytes.
"""

import json

NAME = "recordpress.cdx.json"


def document(version, libraries):
    """The text, from the version of recordpress and what static_libraries.py told in sources.json."""
    components = [component(name, library) for name, library in sorted(libraries.items())]
    root = f"pkg:pypi/recordpress@{version}"
    content = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": "recordpress",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": [one["bom-ref"] for one in components]},
            *({"ref": one["bom-ref"]} for one in components),
        ],
    }
    return json.dumps(content, indent=1) + "\n"


def component(name, library):
    purl = f"pkg:github/{library['project'].lower()}@v{library['version']}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": library["version"],
        "purl": purl,
        "licenses": [{"license": {"id": library["licence"]}}],
        "externalReferences": [
            {
                "type": "source-distribution",
                "url": library["url"],
                "hashes": [{"alg": "SHA-256", "content": library["sha256"]}],
            }
        ],
        "properties": [
            {"name": "recordpress:linkage", "value": "static"},
            {"name": "recordpress:origin", "value": library["origin"]},
        ],
    }
