import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { ALIGNED } from '../../test/support/alignments.ts';
import { GOOD_MAIL, type GoodMail } from '../../test/support/good-mail.ts';
import { type Finding, NO_WAY, type Way } from './contract.ts';
import { checkMessage } from './rules.ts';

const SIGNED: Way = {
  ...NO_WAY,
  hops: [{ relay: 'out', type: 'mx', host: null, maxBytes: null, alignment: ALIGNED, signingCure: null }],
};

/** As another program writes it in MIME. */
async function written({ attachments = [], headers = {}, ...mail }: GoodMail): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const sent = await transport.sendMail({
    ...mail,
    to: 'ada@example.net',
    headers,
    attachments: [...attachments],
  });
  if (!Buffer.isBuffer(sent.message)) throw new Error('nodemailer wrote no buffer');
  return sent.message;
}

async function findingsIn(mail: GoodMail): Promise<readonly Finding[]> {
  return await checkMessage(await written(mail), SIGNED);
}

test.each(Object.entries(GOOD_MAIL))('%s has neither errors nor warnings', async (_, mail) => {
  const found = await findingsIn(mail);
  expect(found.filter(({ severity }) => severity !== 'hint')).toEqual([]);
});

test('there are hints in few of them', async () => {
  const all = await Promise.all(Object.values(GOOD_MAIL).map(findingsIn));
  expect(all.flat().map(({ code }) => code)).toEqual(['reply-to-free-mail']);
});

test('what breaks a good message is found in it', async () => {
  const { 'a receipt': receipt } = GOOD_MAIL;
  if (receipt?.html === undefined) throw new Error('there is no receipt');
  const broken = { ...receipt, html: receipt.html.replace('Thanks, Ada.', 'Thanks, {{ name }}.') };
  expect(await findingsIn(broken)).toMatchObject([{ code: 'placeholder', where: '/html#L31' }]);
});
