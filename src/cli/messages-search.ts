import type { Command } from 'commander';
import { formatTimestamp } from '../lib/clock.ts';
import { isMessageId, messageIdTime } from '../lib/id.ts';
import type { SearchPage } from '../operations/search.ts';
import { type CommonOptions, type Context, command, print, wholeNumber } from './context.ts';
import { pageText } from './message-text.ts';
import { withOperations } from './session.ts';
import { stepTeller } from './step-teller.ts';

interface SearchOptions extends CommonOptions {
  readonly limit: number;
  readonly before?: string;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 200;
/** Pages that are looked through for what few messages have; each looks at 20,000 or more. */
const MAX_PAGES = 100;

/** `waybill messages search`: finds mail of all keys. */
export function searchCommand(context: Context): Command {
  return command('search', 'find messages of every key by words and tokens, newest first', [
    'waybill messages search invoice to:@example.net',
    `waybill messages search '"your invoice" status:failed after:2026-11-20'`,
    "waybill messages search 'key:shop -tag:news'",
  ])
    .argument('[query...]', 'words, "phrases", and tokens such as to:, subject:, status:; see docs/search.md')
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_LIMIT), DEFAULT_LIMIT)
    .option('--before <id>', 'go on where a page ended: the id in its last line')
    .action(async (words: readonly string[], options: SearchOptions) => {
      await withOperations(context, options, {}, async ({ search }) => {
        const query = words.join(' ');
        const ask = (limit: number, before: string | null) => search({ query, limit, before });
        const page = await followPages(context, options, options.limit, ask);
        print(context, options, page, () => foundText(page));
      });
    });
}

/** What a page of messages has, whatever else it has. */
interface Page {
  readonly messages: readonly unknown[];
  readonly next: string | null;
}

/**
 * Asks for pages until so many messages were found, or there are no more, or enough pages were looked through; a person is told
 * how far it is. Gives the last page with all that was found.
 */
export async function followPages<P extends Page>(
  context: Context,
  options: CommonOptions & { readonly before?: string; readonly limit: number },
  enough: number,
  ask: (limit: number, before: string | null) => Promise<P>,
): Promise<P> {
  const progress = stepTeller(context, options, (place: string) => ({
    title: 'Looking at older messages',
    share: isMessageId(place) ? `before ${formatTimestamp(messageIdTime(place))}` : '',
  }));
  let page = await ask(options.limit, options.before ?? null);
  const found = [...page.messages];
  for (let pages = 1; page.next !== null && found.length < enough && pages < MAX_PAGES; pages++) {
    progress.tell(page.next);
    page = await ask(options.limit - found.length, page.next);
    found.push(...page.messages);
  }
  return { ...page, messages: found };
}

/** What was found, for people, and what to know of it. */
function foundText(page: SearchPage): string {
  const notes = page.notes.map((note) => `Note: ${note}`);
  if (page.behind > 0) notes.push(`Note: about ${page.behind} older messages are not found by words yet.`);
  return [...notes, pageText(page)].join('\n');
}
