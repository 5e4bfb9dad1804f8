#!/bin/sh
# Starts nginx with what it takes from the environment: TRUSTED_PROXIES, TLS_CERTIFICATE and TLS_KEY.
set -eu
made=/run/front
mkdir -p "$made"

# The container engine's own name server: it knows which API containers there are.
servers=$(awk '$1 == "nameserver" { if ($2 ~ /:/) print "[" $2 "]"; else print $2 }' /etc/resolv.conf | tr '\n' ' ')
{
    echo "resolver ${servers}valid=2s;"
    for network in $(echo "${TRUSTED_PROXIES:-}" | tr ',' ' '); do echo "set_real_ip_from $network;"; done
} > "$made/http.conf"

if [ -n "${TLS_CERTIFICATE:-}" ]; then
    echo "listen 8443 ssl; http2 on; ssl_certificate $TLS_CERTIFICATE; ssl_certificate_key $TLS_KEY;"
fi > "$made/server.conf"

exec nginx -g 'daemon off;'
