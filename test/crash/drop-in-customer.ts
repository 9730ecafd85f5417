import { readMessageId } from '../../src/lib/id.ts';
import type { RunningServer } from '../peers/server.ts';
import { signedHeaders } from '../support/aws-signing.ts';
import { Customer, LETTER } from './customer.ts';

/** What a customer is known by: an API key, and the access key that belongs to it. */
export interface DropInKey {
  readonly key: string;
  readonly accessKeyId: string;
  readonly secret: string;
}

/** An answer: its status, and the id that it gives. */
export interface DropInAnswer {
  readonly status: number;
  readonly id: string | null;
}

/** How one speaks to a provider: what is posted, and where in the answer the id is. */
interface Way {
  readonly path: string;
  readonly body: (subject: string) => object;
  readonly headers: (key: DropInKey, body: string, host: string) => Readonly<Record<string, string>>;
  readonly id: string;
}

const { from, text } = LETTER;
const to = [...LETTER.to];
const bearer = ({ key }: DropInKey) => ({ Authorization: `Bearer ${key}` });
const SES_PATH = '/v2/email/outbound-emails';
/** Mailgun is not among them: its answer has no id but the Message-ID. */
const WAYS: readonly Way[] = [
  { path: '/emails', body: (subject) => ({ from, to, subject, text }), headers: bearer, id: 'id' },
  {
    path: '/email',
    body: (subject) => ({ From: from, To: to.join(', '), Subject: subject, TextBody: text }),
    headers: ({ key }) => ({ 'X-Postmark-Server-Token': key }),
    id: 'MessageID',
  },
  {
    path: '/v3/mail/send',
    body: (subject) => ({
      personalizations: [{ to: to.map((email) => ({ email })) }],
      from: { email: from },
      subject,
      content: [{ type: 'text/plain', value: text }],
    }),
    headers: bearer,
    id: 'X-Message-Id',
  },
  {
    path: SES_PATH,
    body: (subject) => ({
      FromEmailAddress: from,
      Destination: { ToAddresses: to },
      Content: { Simple: { Subject: { Data: subject }, Body: { Text: { Data: text } } } },
    }),
    headers: signedForSes,
    id: 'MessageId',
  },
];

/** A customer whose program was written for one provider or another, by turns. */
export class DropInCustomer extends Customer<DropInAnswer> {
  readonly #key: DropInKey;
  #turn = 0;

  constructor(key: DropInKey) {
    super();
    this.#key = key;
  }

  idIn({ status, id }: DropInAnswer): string | null {
    return status === 200 || status === 202 ? id : null;
  }

  protected async hand(server: RunningServer, subject: string): Promise<DropInAnswer> {
    const way = WAYS[this.#turn++ % WAYS.length];
    if (way === undefined) throw new Error('there is no way');
    const { host } = new URL(server.api);
    const body = JSON.stringify(way.body(subject));
    const answer = await fetch(server.api + way.path, {
      method: 'POST',
      headers: { ...way.headers(this.#key, body, host), 'Content-Type': 'application/json' },
      body,
    });
    const said = await answer.text();
    const given = answer.headers.get(way.id) ?? (said === '' ? null : Reflect.get(JSON.parse(said), way.id));
    return { status: answer.status, id: readMessageId(String(given)) };
  }
}

function signedForSes({ accessKeyId, secret }: DropInKey, body: string, host: string) {
  const asked = { method: 'POST', path: SES_PATH, host, date: new Date() };
  const { Host, ...rest } = signedHeaders(asked, {}, body, { accessKeyId, secret });
  return rest;
}
