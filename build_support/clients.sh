#!/bin/sh
# clients.sh FOLDER PYTHON: checkouts of aiokafka and kafka-python in the installed releases, for their tests. Where GitHub
# cannot be reached, the tests take what PyPI's archives have.
set -eu
mkdir -p "$1"
for client in aiokafka:aio-libs:v kafka-python:dpkp:; do
    name=${client%%:*} rest=${client#*:}
    release=$("$2" -c "import importlib.metadata as m; print(m.version('$name'))")
    folder=$1/$name-$release
    [ -d "$folder" ] || git -c advice.detachedHead=false clone -q --depth 1 --branch "${rest#*:}$release" \
        "https://github.com/${rest%%:*}/$name" "$folder" ||
        echo "no checkout of $name $release: PyPI's archive is taken"
done
