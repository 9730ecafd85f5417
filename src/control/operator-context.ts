import { serverName } from '../config/server-name.ts';
import type { ApiKey } from '../domain/key.ts';
import type { SubmissionContext } from '../ingest/http/submission-context.ts';
import type { LocalDeps } from './local-deps.ts';

/** The owner of the data directory, and whoever operates the service, may send as anyone. */
const OWNER: ApiKey = {
  id: '',
  name: '',
  mode: 'live',
  prefix: '',
  scopes: [],
  createdAt: 0,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  rateLimit: null,
  cidrs: [],
  senderDomains: [],
  contentDays: null,
};

/** The source of a submission that an operator makes. */
export function operatorContext(
  token: string,
  { clock, random, resolution }: Pick<LocalDeps, 'clock' | 'random' | 'resolution'>,
): SubmissionContext {
  return {
    key: OWNER,
    sourceAddress: '127.0.0.1',
    requestId: null,
    secure: false,
    now: clock.wall(),
    random,
    hostname: serverName(resolution().config),
    token,
    idempotencyKey: null,
  };
}
