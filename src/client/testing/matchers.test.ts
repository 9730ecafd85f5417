/** What the matchers hold, and what they say when they do not. */
import { describe, expect, test } from 'vitest';
import type { Captured } from './captured.ts';
import { InboxError, type NoneQuery, type WaitForQuery } from './inbox.ts';
import { Mail } from './mail.ts';
import './vitest.ts';

const CAPTURED: Captured = {
  message: {
    id: 'msg_1',
    box: null,
    createdAt: '2026-11-28T01:00:00.000Z',
    from: 'Shop <shop@example.com>',
    to: ['ann@example.com'],
    cc: [],
    bcc: [],
    subject: 'Your code',
    tags: [],
  },
  text: 'Your code is 135790.',
  html: null,
  links: [
    { url: 'https://shop.example/in?token=abc123', text: 'Sign in' },
    { url: 'https://shop.example/help', text: '' },
  ],
  codes: ['135790', '2468'],
  headers: [
    ['Subject', 'Your code'],
    ['Reply-To', 'help@example.com'],
  ],
  attachments: [
    { filename: 'invoice.pdf', contentType: 'application/pdf', sizeBytes: 3, inline: false, contentId: null },
    { filename: 'logo.png', contentType: 'image/png', sizeBytes: 4, inline: true, contentId: 'logo' },
  ],
};
const asked: unknown[] = [];
const mail = new Mail(CAPTURED, async (...of) => {
  asked.push(of);
  return new Uint8Array([1, 2, 3]);
});
const bare = new Mail(
  { ...CAPTURED, links: [], codes: [], headers: [], attachments: [] },
  async () => new Uint8Array(),
);

/** What a failing assertion says. */
function saidBy(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('the assertion holds');
}

test('what holds, holds', () => {
  expect(mail).toHaveLink();
  expect(mail).toHaveLink('https://shop.example/help');
  expect(mail).toHaveLink('Sign in');
  expect(mail).toHaveLink(/token=\w+/);
  expect(mail).not.toHaveLink('https://shop.example/');
  expect(bare).not.toHaveLink();
  expect(mail).toHaveCode();
  expect(mail).toHaveCode('135790');
  expect(mail).toHaveCode(/^\d{4}$/);
  expect(mail).not.toHaveCode('1357');
  expect(bare).not.toHaveCode();
  expect(mail).toHaveAttachment();
  expect(mail).toHaveAttachment('invoice.pdf', { contentType: 'application/pdf', sizeBytes: 3 });
  expect(mail).toHaveAttachment(/\.png$/);
  expect(mail).not.toHaveAttachment('invoice');
  expect(mail).not.toHaveAttachment('invoice.pdf', { sizeBytes: 4 });
  expect(mail).toHaveHeader('reply-to');
  expect(mail).toHaveHeader('reply-to', 'help@example.com');
  expect(mail).toHaveHeader('Reply-To', /^help@/);
  expect(mail).not.toHaveHeader('Reply-To', 'help');
  expect(mail).not.toHaveHeader('X-None');
});

describe('a failure says what is there', () => {
  test('instead of a link', () => {
    expect(saidBy(() => expect(mail).toHaveLink('https://shop.example/in?token=abd123'))).toBe(
      [
        'There is no link "https://shop.example/in?token=abd123" in the mail "Your code" to ann@example.com.',
        '  expected  https://shop.example/in?token=abd123',
        '  nearest   https://shop.example/in?token=abc123',
        '                                            ^',
        'Its links:',
        '  "https://shop.example/in?token=abc123"  "Sign in"',
        '  "https://shop.example/help"',
      ].join('\n'),
    );
    expect(saidBy(() => expect(bare).toHaveLink(/reset/))).toBe(
      'There is no link /reset/ in the mail "Your code" to ann@example.com.\nIt has no links.',
    );
    expect(saidBy(() => expect(mail).not.toHaveLink())).toBe(
      'There is a link in the mail "Your code" to ann@example.com that should not be:\n  "https://shop.example/in?token=abc123"  "Sign in"',
    );
  });
  test('instead of a code', () => {
    expect(saidBy(() => expect(mail).toHaveCode('99'))).toBe(
      'There is no code "99" in the mail "Your code" to ann@example.com.\nIts codes:\n  "135790"\n  "2468"\nIts text: "Your code is 135790."',
    );
  });
  test('instead of an attachment', () => {
    expect(saidBy(() => expect(mail).toHaveAttachment('a.pdf'))).toBe(
      'There is no attachment "a.pdf" in the mail "Your code" to ann@example.com.\nIts attachments:\n  "invoice.pdf"  application/pdf, 3 bytes\n  "logo.png"  image/png, 4 bytes, inline',
    );
    expect(
      saidBy(() => expect(mail).toHaveAttachment('invoice.pdf', { sizeBytes: 7, contentType: 'text/plain' })),
    ).toBe(
      'There is no attachment "invoice.pdf" in the mail "Your code" to ann@example.com.\n"invoice.pdf" is there, but:\n  contentType is "application/pdf", not "text/plain"\n  sizeBytes is 3, not 7',
    );
  });
  test('instead of a header field', () => {
    expect(saidBy(() => expect(mail).toHaveHeader('X-A'))).toBe(
      'There is no header field X-A in the mail "Your code" to ann@example.com.\nIts header has no X-A, only Subject, Reply-To.',
    );
    expect(saidBy(() => expect(mail).toHaveHeader('Reply-To', 'help@example.org'))).toBe(
      [
        'There is no header field Reply-To "help@example.org" in the mail "Your code" to ann@example.com.',
        '  expected  help@example.org',
        '  nearest   help@example.com',
        '                         ^',
        'Its Reply-To:',
        '  "help@example.com"',
      ].join('\n'),
    );
  });
  test('but not all of it', () => {
    const links = Array.from({ length: 50 }, (_, n) => ({
      url: `https://shop.example/${n}`,
      text: 'x'.repeat(5000),
    }));
    const said = saidBy(() =>
      expect(new Mail({ ...CAPTURED, links }, async () => new Uint8Array())).toHaveLink('no'),
    );
    expect(said).toContain('and 40 more');
    expect(said.length).toBeLessThan(4000);
    const long = `https://shop.example/0${'y'.repeat(5000)}`;
    const near = saidBy(() =>
      expect(new Mail({ ...CAPTURED, links }, async () => new Uint8Array())).toHaveLink(`${long}z`),
    );
    expect(near).toContain('\n  nearest   https://shop.example/0\n                                  ^\n');
    expect(near.length).toBeLessThan(4000);
  });
});

test.each(['toHaveLink', 'toHaveCode', 'toHaveAttachment'] as const)(
  '%s takes nothing, a string or a pattern, and no variable that was never set',
  (name) => {
    for (const one of [mail, bare])
      for (const wrong of [undefined, null, 135790, ['x'], { url: 'x' }] as unknown as string[]) {
        const expected = 'must be a string or a regular expression';
        expect(saidBy(() => expect(one)[name](wrong))).toContain(expected);
        expect(saidBy(() => expect(one).not[name](wrong))).toContain(expected);
      }
  },
);

test('toHaveHeader takes a name, and a value that is set', () => {
  expect(saidBy(() => expect(mail).toHaveHeader('Subject', undefined))).toContain(
    'The value of toHaveHeader',
  );
  expect(saidBy(() => expect(bare).not.toHaveHeader(/x/ as unknown as string))).toContain('The name of');
});

test.each([
  [{ size: 99 }, 'An attachment cannot be asked for by size, only by contentType, sizeBytes.'],
  [{ sizeBytes: undefined }, 'sizeBytes of an attachment must be a number.'],
  [{ contentType: /pdf/ }, 'contentType of an attachment must be a string.'],
  [undefined, 'An attachment is asked for by an object with contentType, sizeBytes.'],
  ['application/pdf', 'An attachment is asked for by an object with contentType, sizeBytes.'],
])('an attachment like %j is refused', (shape, said) => {
  expect(saidBy(() => expect(mail).toHaveAttachment('invoice.pdf', shape as object))).toBe(said);
  expect(saidBy(() => expect(mail).not.toHaveAttachment('none.pdf', shape as object))).toBe(said);
});

test.each(['toHaveLink', 'toHaveCode', 'toHaveAttachment'] as const)(
  '%s wants a mail, and no promise of one',
  (name) => {
    for (const wrong of [Promise.resolve(mail), null, 'mail', {}])
      expect(saidBy(() => expect(wrong)[name]())).toBe(
        `${name} looks at a mail, as inbox.waitFor gives it: was an await forgotten?`,
      );
  },
);

describe('toHaveMail', () => {
  /** An inbox with a mail, or without. */
  class OneMail {
    readonly asked: object[] = [];
    readonly #there: boolean;
    constructor(there: boolean) {
      this.#there = there;
    }
    async waitFor(query: WaitForQuery = {}): Promise<void> {
      this.asked.push(query);
      if (!this.#there) throw new InboxError('none is there');
    }
    async none(query: NoneQuery = {}): Promise<void> {
      this.asked.push(query);
      if (this.#there) throw new InboxError('one is there');
    }
  }

  test('waits for what is asked, and says what the inbox says', async () => {
    const there = new OneMail(true);
    await expect(there).toHaveMail({ subject: /code/, timeoutMs: 7 });
    expect(there.asked).toEqual([{ subject: /code/, timeoutMs: 7 }]);
    await expect(expect(there).not.toHaveMail({ within: 3 })).rejects.toThrow('one is there');
    const empty = new OneMail(false);
    await expect(empty).not.toHaveMail({ subject: /code/, within: 7 });
    expect(empty.asked).toEqual([{ subject: /code/, within: 7 }]);
    await expect(expect(empty).toHaveMail()).rejects.toThrow('none is there');
  });
  test('refuses the time that is for the other of the two', async () => {
    for (const inbox of [new OneMail(true), new OneMail(false)]) {
      await expect(expect(inbox).not.toHaveMail({ timeoutMs: 5000 })).rejects.toThrow(
        'not.toHaveMail takes within instead of timeoutMs',
      );
      await expect(expect(inbox).toHaveMail({ within: 5000 })).rejects.toThrow(
        'toHaveMail takes timeoutMs instead of within',
      );
      expect(inbox.asked).toEqual([]);
    }
  });
  test('refuses a variable that was never set, which would be any mail', async () => {
    for (const inbox of [new OneMail(true), new OneMail(false)]) {
      await expect(expect(inbox).toHaveMail(undefined)).rejects.toThrow('The query is undefined');
      await expect(expect(inbox).not.toHaveMail(undefined)).rejects.toThrow('The query is undefined');
      expect(inbox.asked).toEqual([]);
    }
  });
  test('does not take a server that is down for mail that is not there', async () => {
    const down = {
      waitFor: async () => Promise.reject(new Error('down')),
      none: async () => Promise.reject(new Error('down')),
    };
    await expect(expect(down).toHaveMail()).rejects.toThrow('down');
    await expect(expect(down).not.toHaveMail()).rejects.toThrow('down');
  });
  test('wants an inbox', async () => {
    await expect(expect(mail).toHaveMail()).rejects.toThrow('toHaveMail looks at an inbox');
  });
});

describe('a mail', () => {
  test('gives a link by its address or its text', () => {
    expect(mail.link(/token/)).toBe('https://shop.example/in?token=abc123');
    expect(mail.link('Sign in')).toBe('https://shop.example/in?token=abc123');
    for (const wrong of [undefined, null, 7])
      expect(() => mail.link(wrong as unknown as string)).toThrow('The link must be a string');
    expect(() => mail.link('Sign out')).toThrow(/no link "Sign out".*Its links:\n {2}"https/s);
  });
  test('gives a field of its header, whatever the case', () => {
    expect(mail.header('reply-TO')).toBe('help@example.com');
    expect(mail.header('x')).toBeNull();
  });
  test('gives the bytes of an attachment, or says which there are', async () => {
    expect(await mail.attachment('logo.png')).toEqual(new Uint8Array([1, 2, 3]));
    expect(asked).toEqual([['msg_1', 1]]);
    await expect(mail.attachment(undefined as unknown as string)).rejects.toThrow(
      'The name must be a string',
    );
    await expect(mail.attachment(/csv/)).rejects.toThrow(/no attachment \/csv\/.*"invoice.pdf"/s);
  });
});
