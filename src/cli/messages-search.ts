import type { Command } from 'commander';
import type { SearchPage } from '../control/search-operations.ts';
import { type CommonOptions, type Context, command, print, wholeNumber } from './context.ts';
import { pageText } from './message-text.ts';
import { withOperations } from './session.ts';

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
        const found: SearchPage['messages'][number][] = [];
        let page: SearchPage;
        let before = options.before ?? null;
        let pages = 0;
        do {
          page = await search({ query, limit: options.limit - found.length, before });
          found.push(...page.messages);
          before = page.next;
        } while (before !== null && found.length < options.limit && ++pages < MAX_PAGES);
        const whole = { ...page, messages: found };
        print(context, options, whole, () => foundText(whole));
      });
    });
}

/** What was found, for people, and what to know of it. */
function foundText(page: SearchPage): string {
  const notes = page.notes.map((note) => `Note: ${note}`);
  if (page.behind > 0) notes.push(`Note: about ${page.behind} older messages are not found by words yet.`);
  const isLater = page.messages.length === 0 && page.next !== null;
  const text = isLater ? `Nothing found yet: repeat the command with --before ${page.next}` : pageText(page);
  return [...notes, text].join('\n');
}
