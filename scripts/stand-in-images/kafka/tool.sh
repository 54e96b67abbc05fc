#!/bin/bash
# One of Kafka's command-line tools, by the name that it is called by.
case "$(basename "$0")" in
  kafka-topics.sh) class=org.apache.kafka.tools.TopicCommand ;;
  kafka-console-consumer.sh) class=org.apache.kafka.tools.consumer.ConsoleConsumer ;;
  *) echo "no such tool: $0" >&2 && exit 1 ;;
esac
exec java -Xmx256m -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*' \
  -Dorg.slf4j.simpleLogger.defaultLogLevel=error "$class" "$@"
