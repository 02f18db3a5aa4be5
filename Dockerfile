# Copydesk in a container.
#
#   docker build -t copydesk .
#   docker run --rm -p 127.0.0.1:4680:4680 -v copydesk:/data copydesk
#
# Open the printed link. Where people reach the server by a name, add
# `-e COPYDESK_PUBLIC_URL=https://desk.example.org`. For a workspace, add
# `-v FOLDER:/workspace -e COPYDESK_WORKSPACE=/workspace`. The server is the user 10001 and has to be
# able to write there, and in a folder that takes the place of the volume: `chown -R 10001 FOLDER`.

FROM rust:1-trixie AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends nodejs npm valgrind \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN packaging/build.sh \
 && cp target/dist/copydesk /usr/local/bin/copydesk

FROM debian:trixie-slim
# Certificates for the providers of models.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin copydesk \
 && install -d -o copydesk -g copydesk -m 0700 /data
COPY --from=build /usr/local/bin/copydesk /usr/local/bin/copydesk
USER copydesk
WORKDIR /data
VOLUME /data
ENV COPYDESK_LISTEN=0.0.0.0:4680 COPYDESK_DATA=/data
EXPOSE 4680
STOPSIGNAL SIGTERM
# With TLS, who comes without it is answered 400: then the server answers, but may not be able to store.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["bash", "-c", "status=${COPYDESK_TLS_CERTIFICATE:+400}; exec 3<>/dev/tcp/127.0.0.1/${COPYDESK_LISTEN##*:} && printf 'GET /readyz HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q \" ${status:-200} \""]
ENTRYPOINT ["copydesk"]
CMD ["serve"]
