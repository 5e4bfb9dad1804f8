#!/bin/sh
# Starts nginx with what it takes from the environment (TRUSTED_PROXIES, TLS_CERTIFICATE and TLS_KEY), and with the
# addresses of the API's containers, which it looks up every two seconds.
#
#     front.sh                   start
#     front.sh leave ADDRESS...  send no more requests to these containers, although they still run. Returns when the
#                                requests that were sent to them are answered
set -eu
made=/run/front
leave_seconds=65
mkdir -p "$made/leaving"
touch "$made/api.conf" "$made/addresses"

# The addresses that the container engine's name server has, without those that leave. One that is new there is used as
# soon as its API answers. If the look-up fails, those of the last one are used that answer.
write_servers() {
    known=
    if found=$(getent ahosts api); then
        known=$(cat "$made/api.conf")
        echo "$found" | awk '{ print $1 }' | sort -u > "$made/addresses"
        rm -f "$made/failed"
    elif [ ! -e "$made/failed" ]; then
        touch "$made/failed"
        echo "The name api cannot be looked up. If no container of the API is running: docker compose up --detach" >&2
    fi
    running=$(cat "$made/addresses")
    for file in "$made/leaving"/*; do  # an address that is gone may come back with another container
        echo "$running" | grep -Fxq "${file##*/}" || rm -f "$file"
    done
    for address in $running; do
        [ ! -e "$made/leaving/$address" ] || continue
        case "$address" in *:*) address="[$address]" ;; esac
        server="server $address:8000 max_fails=1 fail_timeout=1s;"
        if echo "$known" | grep -Fxq "$server" || wget -q -T 2 -O /dev/null "http://$address:8000/healthz"; then
            echo "$server"
        fi
    done > "$made/api.conf.new"
    [ -s "$made/api.conf.new" ] || echo "server 127.0.0.1:8000 down;" > "$made/api.conf.new"
    mv "$made/api.conf.new" "$made/api.conf"
}

use_servers() {
    (
        flock 9
        before=$(cat "$made/api.conf")
        write_servers
        [ "$before" = "$(cat "$made/api.conf")" ] || nginx -s reload
    ) 9> "$made/lock"
}

if [ "${1:-}" = leave ]; then
    shift
    nginx=$(cat "$made/nginx.pid")
    workers=$(grep -o '[0-9]*' "/proc/$nginx/task/$nginx/children" | grep -Fxv "$(cat "$made/watcher.pid")")
    for address in "$@"; do touch "$made/leaving/$address"; done
    use_servers
    waited=0
    for worker in $workers; do
        while kill -0 "$worker" 2> /dev/null && [ "$waited" -lt "$leave_seconds" ]; do
            sleep 1
            waited=$((waited + 1))
        done
    done
    exit
fi

for network in $(echo "${TRUSTED_PROXIES:-}" | tr ',' ' '); do echo "set_real_ip_from $network;"; done > "$made/http.conf"
if [ -n "${TLS_CERTIFICATE:-}" ]; then
    echo "listen 8443 ssl http2; ssl_certificate $TLS_CERTIFICATE; ssl_certificate_key $TLS_KEY;"
fi > "$made/server.conf"
write_servers

# Ends with this process, which becomes nginx.
front=$$
while sleep 2 && kill -0 "$front"; do use_servers || true; done &
echo $! > "$made/watcher.pid"
exec nginx -g 'daemon off;'
