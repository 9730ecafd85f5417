import type { SessionLimits } from '../accounts/sessions.ts';
import type { Config } from '../config/schema.ts';

const MINUTE_MS = 60_000;

/** How sessions are limited, as it is configured now. */
export function sessionLimits({ webui }: Config): SessionLimits {
  return {
    idleMs: webui.sessionTimeoutMinutes * MINUTE_MS,
    maxMs: webui.sessionMaxHours * 60 * MINUTE_MS,
    perUser: webui.maxSessionsPerUser,
  };
}
