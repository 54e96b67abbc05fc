# The worker's image: built with everything, shipped with what runs.
FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY scripts/copy-assets.js ./scripts/
# Types and source maps of the packages are a quarter of their size, and nothing here reads them.
RUN npm run build && npm prune --omit=dev \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
  && find dist -name .tsbuildinfo -delete

FROM node:26-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY migrations ./migrations
COPY contracts ./contracts
COPY runbooks ./runbooks
COPY package.json LICENSE ./
COPY --from=build /app/dist ./dist
# By number, so that Kubernetes can see that it is not root. Nothing is ever written: the root file
# system may be read-only.
USER 1000:1000
EXPOSE 8080
# Alive, not ready: a restart mends a loop that stands still, never a database that is away.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "dist/cli.js", "health"]
# The flags of the first line of dist/cli.js.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--max-old-space-size=512", "dist/cli.js"]
CMD ["serve"]
