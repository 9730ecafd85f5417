/** Mail that is taken and comes back: to people who are gone, or do not want it. */
import { setTimeout as pause } from 'node:timers/promises';
import type { TestContext } from 'vitest';
import { subjectOf } from '../crash/customer.ts';
import { HttpCustomer } from '../crash/http-customer.ts';
import type { RunningServer } from '../peers/server.ts';
import type { SinkMessage } from '../peers/smtp-sink-script.ts';
import { bring, complaint, notification, TAKEN } from '../support/bounce-mail.ts';

const AGAIN_MS = 1_000;
/** Of a domain whose server takes everything first. */
const GONE = /^(?:gone|cross)-[\w-]+@example\.org$/;

/** Writes to somebody else each time: one half is gone, and the other is cross. */
export class HopefulCustomer extends HttpCustomer {
  #sent = 0;

  protected override fields(subject: string): object {
    return { to: [`${this.#sent++ % 2 === 0 ? 'gone' : 'cross'}-${subject}@example.org`] };
  }
}

/** The server of that domain: it brings back what nobody wants. */
export class Postmaster {
  /** The subjects of letters that were brought back, and taken. */
  readonly returned = new Set<string>();
  /** The replies by which anything was refused for good. */
  readonly refused: string[] = [];
  readonly #server: RunningServer;
  readonly #test: TestContext;
  readonly #underWay = new Set<Promise<void>>();
  #isOver = false;

  constructor(server: RunningServer, test: TestContext) {
    this.#server = server;
    this.#test = test;
    test.onTestFinished(() => {
      this.#isOver = true;
    });
  }

  /** Looks at what a next hop took. */
  sees({ from, to, content }: SinkMessage): void {
    const path = /^<(b-[^>]+)>/.exec(from)?.[1];
    const address = to.find((one) => GONE.test(one));
    if (path === undefined || address === undefined) return;
    const brought = this.#bring(path, address, subjectOf(content)).finally(() =>
      this.#underWay.delete(brought),
    );
    this.#underWay.add(brought);
  }

  /** Resolves once everything was brought. */
  async untilAllIsBrought(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async #bring(path: string, address: string, subject: string): Promise<void> {
    const lines = address.startsWith('gone') ? notification('failed', address) : complaint(address, path);
    while (!this.#isOver) {
      const [port = 0] = this.#server.runtime.smtp;
      // As every server does: again and again, until it is taken.
      const reply = await bring(port, path, lines, { test: this.#test }).catch(String);
      if (TAKEN.test(reply)) {
        this.returned.add(subject);
        return;
      }
      if (reply.startsWith('5')) {
        this.refused.push(reply);
        return;
      }
      await pause(AGAIN_MS);
    }
  }
}
