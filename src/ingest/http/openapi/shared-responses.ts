import { titleOf } from '../../../http/problem.ts';
import type { Json } from './json-schema.ts';

/** Responses that several operations have in common get a name, so that the document says them once. */

/** An operation's responses by status. */
export type Responses = Readonly<Record<string, Json>>;

/** Gathers responses; afterwards knows which are shared. */
export class SharedResponses {
  /** How often each occurs, by its text. */
  readonly #counts = new Map<string, number>();
  readonly #names = new Map<string, string>();
  readonly #named: Record<string, Json> = {};

  constructor(all: readonly Responses[]) {
    for (const response of all.flatMap((responses) => Object.values(responses))) {
      const text = JSON.stringify(response);
      this.#counts.set(text, (this.#counts.get(text) ?? 0) + 1);
    }
  }

  /** The responses with references in place of those that others have too. */
  refer(responses: Responses, operationId: string): Responses {
    return Object.fromEntries(
      Object.entries(responses).map(([status, response]) => {
        const text = JSON.stringify(response);
        if ((this.#counts.get(text) ?? 0) < 2) return [status, response];
        const name = this.#names.get(text) ?? this.#newName(Number(status), text, operationId);
        this.#names.set(text, name);
        this.#named[name] = response;
        return [status, { $ref: `#/components/responses/${name}` }];
      }),
    );
  }

  /** The shared responses by name, once all operations have referred to them. */
  get named(): Responses {
    return this.#named;
  }

  /** By its status, or what it gives; a second kind also by the first operation that has it. */
  #newName(status: number, text: string, operationId: string): string {
    const schema = /"#\/components\/schemas\/(\w+)"/.exec(text)?.[1] ?? 'Answer';
    const title = status < 400 ? schema : pascal(titleOf(status));
    return title in this.#named ? `${title}Of${pascal(operationId)}` : title;
  }
}

function pascal(text: string): string {
  return text.replace(/(?:^|[^A-Za-z]+)([A-Za-z])/g, (_, letter: string) => letter.toUpperCase());
}
