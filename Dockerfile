# Copydesk in a container.
#
#   docker build -t copydesk .
#   docker run --rm -p 127.0.0.1:4680:4680 -v copydesk:/data copydesk
#
# Open the printed link. Where people reach the server by a name, add
# `-e COPYDESK_PUBLIC_URL=https://desk.example.org`. For a workspace, add
# `-v FOLDER:/workspace -e COPYDESK_WORKSPACE=/workspace`. The server is the user 10001 and has to be
# able to write there, and in a folder that takes the place of the volume: `chown -R 10001 FOLDER`.
#
# The layers: the packages of the editor, the editor, the crates that the program depends on, the
# program. Each is built again only when what it is built from has changed.

FROM node:22-trixie-slim AS editor
WORKDIR /web
COPY web/package.json web/package-lock.json ./
RUN npm ci --include=dev --no-audit --no-fund
COPY web/index.html web/tsconfig.json web/vite.config.ts ./
COPY web/public public
COPY web/src src
RUN node node_modules/vite/bin/vite.js build --outDir dist --emptyOutDir

FROM rust:1-trixie AS chef
RUN cargo install --locked cargo-chef@0.1.78
WORKDIR /src

# The list of the crates, which stays the same while only sources change.
FROM chef AS recipe
COPY . .
RUN cargo chef prepare --recipe-path recipe.json

FROM chef AS build
COPY --from=recipe /src/recipe.json .
RUN cargo chef cook --locked --profile dist --recipe-path recipe.json
COPY . .
COPY --from=editor /web/dist /editor
RUN COPYDESK_WEB_DIST=/editor cargo build --locked --profile dist --bin copydesk \
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
