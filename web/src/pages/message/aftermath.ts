import { plural } from '../../format.ts';
import { type Happening, point, type Recipient, replyText, type Story } from './story.ts';

/** What became of recipients after their delivery, in words. */

/** A recipient's bounce. */
export type Bounce = NonNullable<Recipient['bounce']>;

/** What each type of bounce is called, and what it means for the address. */
export const BOUNCE_WORDS: Readonly<
  Record<Bounce['type'], { readonly name: string; readonly means: string }>
> = {
  hard: { name: 'Hard bounce', means: 'The address does not exist, or takes no mail any more.' },
  soft: {
    name: 'Soft bounce',
    means: 'The mailbox could not take it for now, until nobody tried any longer.',
  },
  block: { name: 'Blocked', means: 'The receiver refused the sender or the content, not the address.' },
  provider_suppressed: {
    name: 'Suppressed by the provider',
    means: 'The provider did not try, because of a list of its own.',
  },
  undetermined: { name: 'Bounced', means: 'It did not arrive; what was said does not tell why.' },
};

const SOURCES: Readonly<Record<string, string>> = {
  smtp: 'in our own SMTP dialogue',
  dsn: 'by a delivery status notification',
  arf: 'by a feedback report of the mailbox provider',
  one_click: 'by one-click unsubscribe',
  mailto: 'by mail to the unsubscribe address',
  api: 'through the API',
};

/** How something became known, in words; `relay` is whose webhook told. */
export function sourceWords(source: string): string {
  const [kind, relay] = source.split(/:(.*)/s, 2);
  if (kind === 'webhook' && relay) return `by the webhook of ${relay}`;
  return SOURCES[source] ?? `by ${source}`;
}

/** More recipients that share a fate are told of together. */
const MAX_ALONE = 10;

/** What was told of recipients after their delivery, the earliest first. */
export function aftermathOf({ recipients }: Story['record']): Happening[] {
  const isOne = recipients.length === 1;
  const whose = (address: string, alone: string, named: string) => (isOne ? alone : `${address}${named}`);
  return [
    ...told(recipients, 'confirmed', 'were confirmed by their own servers', ({ address, confirmedAt }) =>
      confirmedAt === null
        ? null
        : {
            at: confirmedAt,
            title: whose(address, 'Confirmed by the recipient’s own server', ': confirmed by its own server'),
            detail: null,
          },
    ),
    // A refusal in our own dialogue stands with its attempt.
    ...told(recipients, 'bounced', 'bounced', ({ address, bounce }) =>
      bounce === null || bounce.source === 'smtp'
        ? null
        : {
            at: bounce.at,
            title: whose(
              address,
              BOUNCE_WORDS[bounce.type].name,
              `: ${BOUNCE_WORDS[bounce.type].name.toLowerCase()}`,
            ),
            detail: bounceDetail(bounce),
          },
    ),
    ...told(recipients, 'complained', 'called it spam', ({ address, complainedAt }) =>
      complainedAt === null
        ? null
        : {
            at: complainedAt,
            title: whose(address, 'The recipient called it spam', ' called it spam'),
            detail: null,
          },
    ),
    ...told(recipients, 'unsubscribed', 'unsubscribed', ({ address, unsubscribedAt }) =>
      unsubscribedAt === null
        ? null
        : {
            at: unsubscribedAt,
            title: whose(address, 'The recipient unsubscribed', ' unsubscribed'),
            detail: null,
          },
    ),
  ].sort((one, other) => (one.at ?? '').localeCompare(other.at ?? ''));
}

/** Such as `550 5.1.1 No such user, told by a delivery status notification`. */
function bounceDetail({ code, enhancedCode, text, source }: Bounce): string {
  const said = replyText(code, enhancedCode, text);
  return `${said === '' ? 'Told' : `${said} · told`} ${sourceWords(source)}`;
}

type Told = Pick<Happening, 'title' | 'detail'> & { readonly at: string };

function told(
  recipients: readonly Recipient[],
  mark: string,
  together: string,
  read: (recipient: Recipient) => Told | null,
): Happening[] {
  const all = recipients.flatMap((recipient, place) => {
    const found = read(recipient);
    return found === null ? [] : [{ ...found, place }];
  });
  if (all.length <= MAX_ALONE)
    return all.map(({ at, title, detail, place }) => point(`${mark} ${place}`, title, mark, { at, detail }));
  const first = all.map(({ at }) => at).sort()[0] ?? null;
  const detail = 'The table of recipients says whose, and when.';
  return [point(mark, `${plural(all.length, 'recipient')} ${together}`, mark, { at: first, detail })];
}
