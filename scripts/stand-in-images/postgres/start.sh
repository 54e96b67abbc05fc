#!/bin/bash
# Starts as the official image does: makes the data folder and the database once, without TCP, then serves.
set -euo pipefail
export PATH="/usr/local/pgsql/bin:$PATH"
[ "$1" = postgres ] || exec "$@"
mkdir -p "$PGDATA" /var/run/postgresql
chown -R postgres /var/lib/postgresql /var/run/postgresql
chmod 700 "$PGDATA"
run=(gosu postgres)
socket=(-c unix_socket_directories=/var/run/postgresql)
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # A file, for the server's user can't open a pipe of root's.
  printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password && chown postgres /tmp/password
  "${run[@]}" initdb --pgdata "$PGDATA" --username postgres --auth-host scram-sha-256 --auth-local trust \
    --pwfile /tmp/password --encoding UTF8 --no-locale
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  "${run[@]}" pg_ctl -D "$PGDATA" -o "-c listen_addresses= ${socket[*]}" -w start
  [ "${POSTGRES_DB:-postgres}" = postgres ] ||
    psql -h /var/run/postgresql -U postgres -c "create database \"$POSTGRES_DB\""
  "${run[@]}" pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "${run[@]}" postgres -D "$PGDATA" -c 'listen_addresses=*' "${socket[@]}" "${@:2}"
