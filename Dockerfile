# The petstore command with Node and its two drivers, and nothing else: docs/deploying.md.

FROM node:24-slim AS build
WORKDIR /source
COPY . .
RUN npm run pack
# Nothing is compiled: the driver of SQLite brings its binaries.
RUN npm install --prefix /app --omit=dev --ignore-scripts --no-audit --no-fund ./dist/petstore-cli-*.tgz pg@8

FROM node:24-slim
COPY --from=build /app /app
ENV NODE_ENV=production
ENV PATH=/app/node_modules/.bin:$PATH
# Other containers connect from other addresses.
ENV PETSTORE_HOST=0.0.0.0
ENV PETSTORE_DATABASE=/data/pets.db
# By number, so that Kubernetes can see that it is not root. The image of Node calls it `node`.
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
WORKDIR /data
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PETSTORE_PORT || process.env.PORT || 3000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell or npm in between, SIGTERM reaches the server.
ENTRYPOINT ["petstore"]
CMD ["serve"]
