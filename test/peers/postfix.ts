import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MailServer } from './mail-server.ts';
import { PostfixInstance } from './postfix-instance.ts';
import { untilFound } from './watch.ts';

/** The user `nobody` of Debian: Postfix stores mail for a user that is not root. */
const MAILBOX_OWNER = 65_534;

/** A Postfix that stores mail, and what it has done with it. */
export interface StoringPostfix extends MailServer {
  /** Everything it has stored. */
  stored(): readonly Buffer[];
  /** Messages of which it has taken at least the envelope, whatever became of them. */
  begun(): number;
}

/**
 * Starts a Postfix that takes mail for example.net and stores it, with more lines in `main.cf`; resolves when it
 * accepts connections.
 */
export async function startPostfix(more = ''): Promise<StoringPostfix> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-postfix-'));
  const inbox = makeMaildir(directory);
  return new Postfix(await PostfixInstance.start(directory, mailboxSettings(directory) + more), inbox);
}

class Postfix implements StoringPostfix {
  readonly port: number;
  readonly #instance: PostfixInstance;
  readonly #inbox: string;

  constructor(instance: PostfixInstance, inbox: string) {
    this.port = instance.port;
    this.#instance = instance;
    this.#inbox = inbox;
  }

  /** Its daemons log after they act: what was begun before this mail was stored counts in {@link begun} from here on. */
  async mailFor(recipient: string): Promise<Buffer> {
    const mail = await untilFound(this.#inbox, () => this.#find(recipient));
    await untilFound(this.#instance.directory, () =>
      this.#instance
        .log()
        .match(/: to=<[^>]+>.*status=sent/g)
        ?.find((line) => line.includes(`<${recipient}>`)),
    );
    return mail;
  }

  freeze(): void {
    this.#instance.signal('SIGSTOP');
  }

  thaw(): void {
    this.#instance.signal('SIGCONT');
  }

  stop(): Promise<void> {
    return this.#instance.stop();
  }

  stored(): readonly Buffer[] {
    return readdirSync(this.#inbox).map((name) => readFileSync(join(this.#inbox, name)));
  }

  begun(): number {
    return [...this.#instance.log().matchAll(/\/smtpd\[\d+\]: \w+: client=/g)].length;
  }

  /** Every recipient gets a file of its own that begins with what Postfix adds. */
  #find(recipient: string): Buffer | undefined {
    return this.stored().find((mail) => mail.includes(`\nDelivered-To: ${recipient}\n`));
  }
}

/** The mailbox of all recipients. Returns the folder in which their mail appears. */
function makeMaildir(directory: string): string {
  const mailbox = join(directory, 'mail');
  for (const folder of ['', 'tmp', 'new', 'cur']) {
    mkdirSync(join(mailbox, folder));
    chownSync(join(mailbox, folder), MAILBOX_OWNER, MAILBOX_OWNER);
  }
  return join(mailbox, 'new');
}

function mailboxSettings(directory: string): string {
  return `myhostname = mx.example.net
virtual_mailbox_domains = example.net
virtual_mailbox_base = ${directory}
virtual_mailbox_maps = static:mail/
virtual_uid_maps = static:${MAILBOX_OWNER}
virtual_gid_maps = static:${MAILBOX_OWNER}
`;
}
