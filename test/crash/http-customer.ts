import type { RunningServer } from '../peers/server.ts';
import { Customer, LETTER } from './customer.ts';

/** An answer, with its body read as JSON. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly [field: string]: unknown };
}

/** A customer of the ingestion API, with a key. */
export class HttpCustomer extends Customer<HttpAnswer> {
  readonly #key: string;
  readonly #more: Readonly<Record<string, unknown>>;

  /** `more` are fields of every message besides those of every letter. */
  constructor(key: string, more: Readonly<Record<string, unknown>> = {}) {
    super();
    this.#key = key;
    this.#more = more;
  }

  idIn({ status, body }: HttpAnswer): string | null {
    return status === 202 ? String(body['id']) : null;
  }

  /** What a message has besides what every letter has. */
  protected fields(_subject: string): object {
    return this.#more;
  }

  protected async hand(server: RunningServer, subject: string): Promise<HttpAnswer> {
    const response = await fetch(`${server.api}/api/v1/messages`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...LETTER, ...this.fields(subject), subject }),
    });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as HttpAnswer['body'] };
  }
}
