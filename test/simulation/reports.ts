import type { MessageRecord } from '../../src/domain/message.ts';
import type { Spool } from '../../src/spool/spool.ts';
import type { Views } from '../../src/store/views.ts';
import { InvariantBroken } from './statuses.ts';

const PAGE = 100;

/**
 * Every failure was reported, once: `failed` says of each `token address` how often it failed. What is reported and
 * nobody saw failing is as wrong. Nobody is told of a report's own fate.
 */
export async function checkReports(
  views: Views,
  spool: Spool,
  failed: ReadonlyMap<string, number>,
): Promise<void> {
  const reported = new Map<string, number>();
  for (const report of await allReports(views)) {
    if (report.envelopeFrom !== '') throw new InvariantBroken(`report ${report.id} has a sender`);
    const text = await textOf(report, spool);
    const token = /^In-Reply-To: <([^@>]+)@example\.com>/m.exec(text)?.[1] ?? 'nothing';
    for (const [, address = ''] of text.matchAll(/^Final-Recipient: rfc822; ?(\S+)\r\nAction: failed/gm)) {
      const name = `${token} ${address}`;
      reported.set(name, (reported.get(name) ?? 0) + 1);
    }
  }
  for (const name of new Set([...failed.keys(), ...reported.keys()]))
    if (failed.get(name) !== reported.get(name))
      throw new InvariantBroken(
        `${name} failed ${failed.get(name) ?? 0} times and was reported ${reported.get(name) ?? 0} times`,
      );
}

async function allReports(views: Views): Promise<MessageRecord[]> {
  const found: MessageRecord[] = [];
  let before: string | null = null;
  do {
    const page = await views.list({ owner: 'all', statuses: [], before, limit: PAGE });
    found.push(...page.messages.filter(({ source }) => source === 'report'));
    before = page.next;
  } while (before !== null);
  return found;
}

async function textOf({ id, content }: MessageRecord, spool: Spool): Promise<string> {
  if (content === null) throw new InvariantBroken(`report ${id} lost its contents`);
  const { chunks } = await spool.read(content);
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks()) parts.push(chunk);
  return Buffer.concat(parts).toString('latin1');
}
