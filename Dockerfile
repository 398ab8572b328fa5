# One image for every role: ROLE says whether a container answers (web), works (worker) or does both (all).
FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /srv/farebox

COPY package.json package-lock.json .npmrc ./
# Programs that packages bring along are prebuilt; no script of a package runs. The image has a Node of its own.
RUN npm ci --omit=dev --ignore-scripts && rm -rf node_modules/node-linux-* node_modules/.bin/node

COPY tsconfig.json ./
COPY facilitator facilitator
COPY mcp mcp
COPY api api
COPY src src
COPY migrations migrations
COPY contracts contracts
# The contracts are compiled here, so that the running service need not write beside its code.
RUN node --import tsx contracts/build.ts
RUN node --import tsx src/build.ts

# Mails become files there where no SMTP_URL is set.
ENV FAREBOX_DATA=/var/lib/farebox PORT=4020 MALLOC_ARENA_MAX=1
RUN mkdir -p /var/lib/farebox && chown node:node /var/lib/farebox
USER node
EXPOSE 4020
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=32", "--heap-growing-percent=75", "dist/main.mjs"]
