/** How serious lines of the log are, rising. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** How serious a line is. */
export type LogLevel = (typeof LOG_LEVELS)[number];
