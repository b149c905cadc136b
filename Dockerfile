# syntax=docker/dockerfile:1

# Releases give it with its digest: deploy/release.sh looks that up when it builds, and notes it beside the image.
ARG BASE=node:22-trixie-slim

# Packages are installed apart, so that a change of the source doesn't fetch them anew.
FROM ${BASE} AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# No package runs code of its own while it is installed.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# The web interface; it is built with packages that the image doesn't hold. Its files are the same for each processor, so it is
# built on the builder's own, without emulation.
FROM --platform=$BUILDPLATFORM ${BASE} AS interface
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY engine/launch ./engine/launch
COPY ui ./ui
RUN npm run build

# The HTTP server's newest build needs glibc 2.38, which Debian 13 has and Alpine has not.
FROM ${BASE}
ENV NODE_ENV=production \
    JUNCTOR_HOME=/data \
    JUNCTOR_HOST=0.0.0.0
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json tsconfig.json LICENSE ./
COPY engine ./engine
COPY protocols ./protocols
COPY transformers ./transformers
COPY admin ./admin
COPY --from=interface /app/ui/dist ./ui/dist
# Made now, since a container can't write there.
RUN node engine/cli/junctor.js --version
RUN mkdir /data && chown 1000:1000 /data && chmod 700 /data
USER 1000:1000
VOLUME /data
EXPOSE 3456
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 CMD ["node", "/app/engine/cli/health.js"]
ENTRYPOINT ["node", "/app/engine/cli/junctor.js"]
CMD ["start"]
