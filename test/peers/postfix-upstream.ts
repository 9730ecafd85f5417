import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { locate } from './need.ts';
import { PostfixInstance } from './postfix-instance.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';

/** Starts a Postfix whose `relayhost` is the next hop; resolves when it accepts connections. */
export async function startPostfixUpstream(options: UpstreamOptions): Promise<Upstream> {
  const directory = mkdtempSync(join(tmpdir(), 'waybill-postfix-'));
  copyFileSync(options.ca, join(directory, 'ca.pem'));
  return new PostfixUpstream(await PostfixInstance.start(directory, settings(options, directory)));
}

class PostfixUpstream implements Upstream {
  readonly port: number;
  readonly #instance: PostfixInstance;

  constructor(instance: PostfixInstance) {
    this.port = instance.port;
    this.#instance = instance;
  }

  async flush(): Promise<void> {
    await promisify(execFile)(locate('postqueue') ?? '', ['-c', this.#instance.configuration, '-f']);
  }

  log(): string {
    return this.#instance.log();
  }

  stop(): Promise<void> {
    return this.#instance.stop();
  }
}

function settings({ nextHop, password }: UpstreamOptions, directory: string): string {
  const sasl = `smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = static:postfix:${password}
smtp_sasl_security_options = noanonymous
`;
  return `myhostname = postfix.example.com
relayhost = [localhost]:${nextHop}
smtp_host_lookup = native
smtp_tls_security_level = secure
smtp_tls_CAfile = ${directory}/ca.pem
smtp_tls_loglevel = 1
${password === null ? '' : sasl}`;
}
