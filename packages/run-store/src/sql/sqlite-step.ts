/** Steps that look before they write: one immediate transaction each, which happens as a whole or not at all. */
import { refusal, type SqliteDatabase } from './sqlite-database.js';

/** Throws `BACKEND_REFUSED`, with the reason why, when the step did not happen. */
export function createSqliteStep(database: SqliteDatabase): <T>(operation: string, step: () => T) => Promise<T> {
  return async (operation, step) => {
    try {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = step();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    } catch (cause) {
      throw refusal(operation, cause);
    }
  };
}

/** On a full disk or a failed read SQLite has rolled back by itself; what is to be told is the reason for that. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // There was no transaction left to end. If there is one all the same, the next BEGIN says so.
  }
}
