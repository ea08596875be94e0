# syntax=docker/dockerfile:1

# The same Node that development runs on. Debian, because Temporal's native library needs glibc: Alpine has none.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Of the native libraries that the Temporal SDK brings, this machine's alone: each of the others is 30 MB.
RUN npm ci --omit=dev && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +
COPY . .
RUN node src/cli/bundle.ts build/workflows.cjs && mkdir data
# All packages of the lock file; then neither bundler nor compiler is left, since workers run what was bundled above, and the
# list names only what is there.
RUN npm sbom --package-lock-only --sbom-format=cyclonedx > build/sbom.cdx.json && node src/cli/without-bundler.ts build/sbom.cdx.json

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Workspace Content Service" \
      org.opencontainers.image.description="API keys, signed webhooks, multilingual categories and paid AI translation" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    METRICS_PORT=9464 \
    DATA_DIR=/data \
    WORKFLOW_BUNDLE=/app/build/workflows.cjs
WORKDIR /app
COPY --from=build /app ./
COPY --from=build --chown=1000:1000 /app/data /data
# The image's own `node`, by number, so that Kubernetes can tell that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The HTTP process; the workers run the same image with `node worker.ts`.
# V8 lets a heap that may grow to gigabytes do so before it collects, and new objects have up to 128 MB of it; a server
# needs a tenth of that.
CMD ["node", "--max-old-space-size=384", "--max-semi-space-size=8", "server.ts"]
