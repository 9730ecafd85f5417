import { z } from 'zod';
import { MAX_PASSWORD } from '../domain/account.ts';
import { Problem } from '../http/problem.ts';
import type { SessionCalls } from './contract.ts';

/** What a user is called when signing in. */
const newName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._@-]{0,63}$/,
    'must be 1 to 64 of a-z 0-9 . _ @ -, beginning with a letter or digit',
  );
/** Code points may take two units each. */
const password = z.string().max(2 * MAX_PASSWORD);
const token = z.string().max(100);
const code = z.string().max(50);
const nothing = z.strictObject({});

/** The shape of each request. */
const REQUESTS: { readonly [Name in keyof SessionCalls]: z.ZodType<SessionCalls[Name]['request']> } = {
  setup: z.strictObject({ token, name: newName.nullable(), password }),
  link: z.strictObject({ token }),
  login: z.strictObject({ name: z.string().max(200), password }),
  second_factor: z.strictObject({ code }),
  logout: nothing,
  password: z.strictObject({ current: password, next: password }),
  totp_begin: z.strictObject({ password }),
  totp_confirm: z.strictObject({ code }),
  totp_remove: z.strictObject({ password }),
  sessions: nothing,
  end_session: z.strictObject({ id: z.string().max(64) }),
  sign_out_others: nothing,
  first_steps: z.strictObject({ skipped: z.boolean() }),
};

/** The name of a call. */
export type CallName = keyof SessionCalls;

/** The call that goes by a name; null: there is none. */
export function callOf(name: string): CallName | null {
  return (Object.keys(REQUESTS) as CallName[]).find((known) => known === name) ?? null;
}

/** The request of a call. Throws the problem 400, which never repeats what was sent. */
export function readRequest<Name extends CallName>(name: Name, body: unknown): SessionCalls[Name]['request'] {
  const parsed = REQUESTS[name].safeParse(body);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.map(({ path, message }) => ({
    pointer: `/${path.join('/')}`,
    code: 'invalid',
    detail: message,
  }));
  const [first] = errors;
  throw new Problem(400, 'invalid', `${first?.pointer ?? '/'}: ${first?.detail ?? 'is wrong'}.`, { errors });
}
