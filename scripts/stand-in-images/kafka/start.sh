#!/bin/bash
# Starts as the official image does: KAFKA_SOME_NAME is the setting some.name; formats the log folder once.
set -euo pipefail
config=/tmp/server.properties
env | sed -n 's/^KAFKA_\([A-Z0-9_]*\)=\(.*\)$/\1 \2/p' | while read -r name value; do
  printf '%s=%s\n' "$(tr 'A-Z_' 'a-z.' <<<"$name")" "$value"
done >"$config"
tool() { java -Xmx256m -cp '/opt/kafka/libs/*' -Dorg.slf4j.simpleLogger.defaultLogLevel=warn "$@"; }
tool kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER_ID" -c "$config"
exec java -Xmx512m -cp '/opt/kafka/libs/*' -Dorg.slf4j.simpleLogger.defaultLogLevel=warn kafka.Kafka "$config"
