/** `@mcp-interlock/run-store/postgres`: paused runs on Postgres, through pg, PGlite or anything that queries like them. */
export {
  type PostgresClient,
  type PostgresRunBackend,
  type PostgresRunBackendOptions,
  postgresRunBackend,
} from './sql/postgres-backend.js';
