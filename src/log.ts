import pino from "pino";
import type { Log } from "#kernel/log";

/** JSON lines to standard error, so that standard output stays for people and commands. */
export function pinoLog(level: "info" | "warn" | "error"): Log {
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
  return {
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
