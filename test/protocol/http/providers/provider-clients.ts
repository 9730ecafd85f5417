import { expect } from 'vitest';
import type { ProviderName } from '../../../../src/domain/drop-in.ts';
import type { ApiKey } from '../../../../src/domain/key.ts';
import { signedHeaders } from '../../../support/aws-signing.ts';
import type { Answer, World } from '../world.ts';

/** Bare clients of every provider's API, and what their refusals say. */

/** What a client sends, where it is not one good message. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** What a client that signs signs in place of the body. */
  readonly signedBody?: string | Buffer;
}

/** How one speaks to a provider's API. */
export interface Api {
  readonly path: string;
  readonly type: string;
  /** What is not there, and where it would be. */
  readonly nowhere: string;
  readonly message: (text: string) => string;
  readonly as: (token: string, sent: Required<Sent>, world: World) => Readonly<Record<string, string>>;
  /** What a refusal says, once it has the provider's shape. */
  readonly told: (answer: Answer) => unknown;
}

const JSON_TYPE = 'application/json';
const FROM = 'jane@example.com';
/** Whom the message is to. */
export const TO = 'bob@example.org';
const NOWHERE = '0199c2f0-5c3e-4a11-8a3d-1f2e3d4c5b6a';
/** Any text. */
export const ANY: unknown = expect.any(String);
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** See {@link Api}. */
export const APIS: Readonly<Record<ProviderName, Api>> = {
  resend: {
    path: '/emails',
    type: JSON_TYPE,
    nowhere: `/emails/${NOWHERE}`,
    message: (text) => JSON.stringify({ from: FROM, to: TO, subject: 'x', text }),
    as: bearer,
    told: ({ status, json }) => {
      expect(json).toEqual({ statusCode: status, name: ANY, message: ANY });
      return json['name'];
    },
  },
  postmark: {
    path: '/email',
    type: JSON_TYPE,
    nowhere: `/messages/outbound/${NOWHERE}/details`,
    message: (text) => JSON.stringify({ From: FROM, To: TO, Subject: 'x', TextBody: text }),
    as: (token) => ({ 'X-Postmark-Server-Token': token }),
    told: ({ json }) => {
      expect(json).toEqual({ ErrorCode: expect.any(Number), Message: ANY });
      return json['ErrorCode'];
    },
  },
  sendgrid: {
    path: '/v3/mail/send',
    type: JSON_TYPE,
    nowhere: '/v3/suppression/nothing',
    message: (value) =>
      JSON.stringify({
        personalizations: [{ to: [{ email: TO }] }],
        from: { email: FROM },
        subject: 'x',
        content: [{ type: 'text/plain', value }],
      }),
    as: bearer,
    told: ({ json }) => {
      const errors: readonly object[] = json.errors ?? [];
      expect(errors.length).toBeGreaterThan(0);
      const string = expect.toBeOneOf([null, ANY]);
      for (const error of errors) expect(error).toEqual({ message: ANY, field: string, help: string });
      return Reflect.get(errors[0] ?? {}, 'message');
    },
  },
  mailgun: {
    path: '/v3/example.com/messages',
    type: 'application/x-www-form-urlencoded',
    nowhere: '/v3/example.com/bounces/nobody@example.org',
    message: (text) => String(new URLSearchParams({ from: FROM, to: TO, subject: 'x', text })),
    as: (token) => ({ Authorization: `Basic ${Buffer.from(`api:${token}`).toString('base64')}` }),
    told: ({ json }) => {
      expect(json).toEqual({ message: ANY });
      return json['message'];
    },
  },
  ses: {
    path: '/v2/email/outbound-emails',
    type: JSON_TYPE,
    nowhere: '/v2/email/suppression/addresses/nobody%40example.org',
    message: (Data) =>
      JSON.stringify({
        FromEmailAddress: FROM,
        Destination: { ToAddresses: [TO] },
        Content: { Simple: { Subject: { Data: 'x' }, Body: { Text: { Data } } } },
      }),
    as: (accessKeyId, { method, path, headers, signedBody }, world) => {
      const asked = { method, path, host: `127.0.0.1:${world.port}`, date: new Date(world.clock.wall()) };
      return signedHeaders(asked, headers, signedBody, { accessKeyId, secret: 'secret' });
    },
    told: ({ headers, json }) => {
      expect(json).toEqual({ message: ANY, __type: headers['x-amzn-errortype'] });
      expect(headers['x-amzn-requestid']).toBe(headers['x-request-id']);
      return json['__type'];
    },
  },
};

/** Clients of all of them in a world, and what they were refused. */
export class ProviderClients {
  readonly world: World;
  /** Our codes and statuses that were met, by provider. */
  readonly met = new Map<ProviderName, Set<string>>();
  /** The access key ids of those that sign, by secret. */
  readonly #accessKeys = new Map<string, string>();

  constructor(world: World) {
    this.world = world;
  }

  /** A key for any of them. */
  async keyOf(facts: Partial<ApiKey> = {}): Promise<string> {
    const number = this.#accessKeys.size + 1;
    const id = `WBCCCCCCCCCCCCCCC${String(number).padStart(3, '0')}`;
    const scopes = ['messages:send', 'messages:read', 'suppressions:read'] as const;
    const signing = { id, sealed: 'secret' };
    const secret = await this.world.key({ id: `rows${number}`, scopes, ...facts }, undefined, signing);
    this.#accessKeys.set(secret, id);
    return secret;
  }

  /** Asks as a client does that has this key; null: it has none. */
  ask(provider: ProviderName, key: string | null, sent: Sent = {}): Promise<Answer> {
    const whole = wholeOf(provider, sent);
    const { method, path, body } = whole;
    return this.world.ask({ method, path, headers: this.headersOf(provider, key, sent), body });
  }

  /** The headers with which it asks. */
  headersOf(provider: ProviderName, key: string | null, sent: Sent): Readonly<Record<string, string>> {
    const whole = wholeOf(provider, sent);
    const token = provider === 'ses' && key !== null ? (this.#accessKeys.get(key) ?? key) : key;
    return { ...whole.headers, ...(token !== null && APIS[provider].as(token, whole, this.world)) };
  }

  /** What a refusal says, and how long it asks to wait. `ours`: the status that our own API would answer with. */
  async refused(provider: ProviderName, ours: number, work: () => Promise<Answer>) {
    const { lines, seen } = this.world;
    lines.length = 0;
    seen.length = 0;
    const answer = await work();
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const logged = lines.flatMap(({ event, fields }) =>
      event === 'api.request_refused' ? [String(fields['code'])] : [],
    );
    const met = this.met.get(provider) ?? new Set();
    for (const code of [...logged, ...this.world.denied, String(ours)]) met.add(code);
    this.met.set(provider, met);
    const told = [answer.status, APIS[provider].told(answer)];
    return { told, retryAfter: Number(answer.headers['retry-after'] ?? 0) };
  }
}

function wholeOf(provider: ProviderName, sent: Sent): Required<Sent> {
  const { path: usual, message, type } = APIS[provider];
  const { method = 'POST', path = usual } = sent;
  const body = sent.body ?? (method === 'POST' ? message('Hi.') : '');
  const headers = { ...(body.length > 0 && { 'Content-Type': type }), ...sent.headers };
  return { method, path, headers, body, signedBody: sent.signedBody ?? body };
}
