import { SESv2Client, SendBulkEmailCommand, SendEmailCommand } from '@aws-sdk/client-sesv2';
import type { ServerClient } from 'postmark';
import { Resend } from 'resend';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { storeTemplate } from '../../../support/stored-template.ts';
import { World } from '../world.ts';
import { caught as caughtOfMailgun, type MailgunClient, mailgunClient } from './mailgun-sdk.ts';
import { clientOf as postmarkClient, thrown } from './postmark-sdk.ts';
import { caught as caughtOfSendgrid, Sendgrid } from './sendgrid-sdk.ts';

/** Applications that send with stored templates, through the unchanged SDK of each provider. */

const FROM = 'Jane <jane@example.com>';
const TO = 'bob@example.org';
const VARIABLES = { name: 'Ann', items: [{ title: 'Shirt' }, { title: 'Shoes' }] };

let world: World;
let key: string;

beforeAll(async () => {
  world = await World.start({ epoch: Date.now() });
  key = await world.key({ id: 'shop' });
  const texts = { subject: 'Order of {{name}}', html: '<p>{{#items}}{{title}} {{/items}}</p>' };
  // Providers' ids: a name, a number, an id of SendGrid.
  for (const alias of ['receipt', '1234', 'd-0123456789abcdef0123456789abcdef'])
    await storeTemplate(world, alias, texts);
});
afterAll(() => world.close());

/** What was sent last, as the template has it. */
function expectRendered(subject = 'Order of Ann'): void {
  expect(world.last.header.subject).toBe(subject);
  expect(world.lastText).toContain('<p>Shirt Shoes </p>');
}

test('Postmark: by alias and by number, alone and in a batch', async () => {
  const postmark: ServerClient = postmarkClient(world, key);
  const mail = { From: FROM, To: TO, TemplateModel: VARIABLES };
  expect(await postmark.sendEmailWithTemplate({ ...mail, TemplateAlias: 'receipt' })).toMatchObject({
    ErrorCode: 0,
  });
  expectRendered();
  await postmark.sendEmailWithTemplate({ ...mail, TemplateId: 1234 });
  expectRendered();
  const answers = await postmark.sendEmailBatchWithTemplates([
    { ...mail, TemplateAlias: 'receipt' },
    { ...mail, TemplateAlias: 'receipt', TemplateModel: {} },
    { ...mail, TemplateAlias: 'none' },
  ]);
  expect(answers.map(({ ErrorCode }) => ErrorCode)).toEqual([0, 403, 1101]);
  expect(answers[1]?.Message).toBe(
    'TemplateModel.name: The template needs a value for "name" (subject, line 1).',
  );
  const without = postmark.sendEmailWithTemplate({ ...mail, TemplateAlias: 'receipt', TemplateModel: {} });
  expect(await thrown(without)).toMatchObject({ statusCode: 422, code: 403 });
});

test('SendGrid: with values for each personalization', async () => {
  const sendgrid = new Sendgrid(world, key).mail();
  const templateId = 'd-0123456789abcdef0123456789abcdef';
  await sendgrid.send({ from: FROM, to: TO, templateId, dynamicTemplateData: VARIABLES });
  expectRendered();
  const personalizations = ['Ann', 'Bob'].map((name) => ({
    to: TO,
    dynamicTemplateData: { ...VARIABLES, name },
  }));
  await sendgrid.send({ from: FROM, subject: 'ignored', templateId, personalizations });
  expectRendered('Order of Bob');
  const before = world.intake.submissions.length;
  const wrong = [...personalizations, { to: TO, dynamicTemplateData: { name: 'Eve', items: 'javascript:' } }];
  const refused = await caughtOfSendgrid(
    sendgrid.send({ from: FROM, templateId, personalizations: [...wrong, { to: TO }] }),
  );
  expect(refused).toMatchObject({
    code: 400,
    response: {
      body: {
        errors: expect.arrayContaining([
          {
            field: 'personalizations.3.dynamic_template_data.name',
            message: 'The template needs a value for "name" (subject, line 1).',
            help: null,
          },
        ]),
      },
    },
  });
  expect(world.intake.submissions.length).toBe(before);
});

test('Resend: by id, with a subject of its own where one is given', async () => {
  const resend = new Resend(key, { baseUrl: `http://127.0.0.1:${world.port}` });
  const mail = { from: FROM, to: TO, template: { id: 'receipt', variables: { ...VARIABLES } } };
  // The SDK's types know plain values alone.
  const send = (one: object) => resend.emails.send(one as Parameters<typeof resend.emails.send>[0]);
  expect((await send(mail)).error).toBeNull();
  expectRendered();
  await send({ ...mail, subject: 'Of its own' });
  expectRendered('Of its own');
  expect((await send({ ...mail, template: { id: 'none' } })).error).toMatchObject({
    name: 'validation_error',
    message: 'template.id: There is no template "none".',
  });
  expect((await send({ ...mail, template: { id: 'receipt', variables: {} } })).error).toMatchObject({
    name: 'validation_error',
    message: 'template.variables.name: The template needs a value for "name" (subject, line 1).',
  });
});

test('Mailgun: with variables as a field or a header, and with a subject of its own', async () => {
  const mailgun: MailgunClient = mailgunClient(world, key);
  const send = (fields: object) =>
    mailgun.messages.create('example.com', { from: FROM, to: TO, template: 'receipt', ...fields });
  await send({ 't:variables': JSON.stringify(VARIABLES), 't:text': 'yes' });
  expectRendered();
  await send({ 'h:X-Mailgun-Variables': JSON.stringify(VARIABLES), subject: 'Of its own' });
  expectRendered('Of its own');
  await send({
    to: [TO, 'eve@example.org'],
    't:variables': JSON.stringify({ ...VARIABLES, name: '%recipient.first%' }),
    'recipient-variables': JSON.stringify({ [TO]: { first: 'Bob' }, 'eve@example.org': { first: 'Eve' } }),
  });
  expectRendered('Order of Eve');
  // A repeat is compared by what was asked, whatever is published since.
  await storeTemplate(world, 'news', { subject: 'One %recipient.first%', text: 'x' });
  const repeat = async (first: string) => {
    const body = new URLSearchParams({
      from: FROM,
      to: TO,
      template: 'news',
      'recipient-variables': JSON.stringify({ [TO]: { first } }),
    }).toString();
    const Authorization = `Basic ${Buffer.from(`api:${key}`).toString('base64')}`;
    const headers = {
      Authorization,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Idempotency-Key': 'news-1',
    };
    return await world.ask({ method: 'POST', path: '/v3/example.com/messages', body, headers });
  };
  const { json } = await repeat('Bob');
  await storeTemplate(world, 'news', { subject: 'Two %recipient.first%', text: 'x' });
  expect((await repeat('Bob')).json['id']).toBe(json['id']);
  expect((await repeat('Eve')).status).toBe(409);
  await world.stores.templates.removeTemplate('news');
  expect((await repeat('Bob')).json['id']).toBe(json['id']);
  expect((await repeat('Eve')).status).toBe(400);
  expect(await caughtOfMailgun(send({ template: 'none' }))).toMatchObject({
    status: 400,
    details: 'template: There is no template "none".',
  });
  expect(await caughtOfMailgun(send({ 't:variables': '{"items": []}' }))).toMatchObject({
    status: 400,
    details: 't:variables/name: The template needs a value for "name" (subject, line 1).',
  });
});

test('SES: by name and by ARN, alone and in bulk', async () => {
  const credentials = { accessKeyId: 'WBAAAAAAAAAAAAAAAA99', secretAccessKey: 'secret/99' };
  const { accessKeyId: id, secretAccessKey: sealed } = credentials;
  await world.key({ id: 'ses' }, undefined, { id, sealed });
  const endpoint = `http://127.0.0.1:${world.port}`;
  const ses = new SESv2Client({ region: 'eu-central-1', endpoint, credentials, maxAttempts: 1 });
  const email = { FromEmailAddress: FROM, Destination: { ToAddresses: [TO] } };
  const send = (Template: object) => ses.send(new SendEmailCommand({ ...email, Content: { Template } }));
  const TemplateData = JSON.stringify(VARIABLES);
  await send({ TemplateName: 'Receipt', TemplateData });
  expectRendered();
  await send({ TemplateArn: 'arn:aws:ses:eu-central-1:123456789012:template/receipt', TemplateData });
  expectRendered();
  await expect(send({ TemplateName: 'none', TemplateData })).rejects.toMatchObject({
    name: 'NotFoundException',
    message: 'Template "none" does not exist.',
  });
  await expect(send({ TemplateName: 'receipt', TemplateData: '{}' })).rejects.toMatchObject({
    name: 'BadRequestException',
    message: expect.stringContaining('TemplateData.name: The template needs a value for "name"'),
  });
  const { BulkEmailEntryResults: results } = await ses.send(
    new SendBulkEmailCommand({
      FromEmailAddress: FROM,
      DefaultContent: { Template: { TemplateName: 'receipt', TemplateData } },
      BulkEmailEntries: ['Bob', null].map((name) => ({
        Destination: { ToAddresses: [TO] },
        ReplacementEmailContent: {
          ReplacementTemplate: { ReplacementTemplateData: JSON.stringify({ name }) },
        },
      })),
    }),
  );
  expect(results?.map(({ Status }) => Status)).toEqual(['SUCCESS', 'INVALID_PARAMETER']);
  expectRendered('Order of Bob');
  await storeTemplate(world, 'leaving', { subject: 'Bye', text: 'x' });
  const under = (idempotencyKey: string) => {
    const client = new SESv2Client({ region: 'eu-central-1', endpoint, credentials, maxAttempts: 1 });
    const withKey = ({ headers }: { headers: Record<string, string> }) => {
      headers['idempotency-key'] = idempotencyKey;
    };
    client.middlewareStack.add(
      (next) => (args) => {
        withKey(args.request as Parameters<typeof withKey>[0]);
        return next(args);
      },
      { step: 'build' },
    );
    return client;
  };
  const Template = { TemplateName: 'leaving', TemplateData };
  const bulk = {
    FromEmailAddress: FROM,
    DefaultContent: { Template },
    BulkEmailEntries: [{ Destination: email.Destination }],
  };
  const idsOf = async () => [
    (await under('ses-1').send(new SendEmailCommand({ ...email, Content: { Template } }))).MessageId,
    (await under('ses-2').send(new SendBulkEmailCommand(bulk))).BulkEmailEntryResults,
  ];
  const first = await idsOf();
  await world.stores.templates.removeTemplate('leaving');
  expect(await idsOf()).toEqual(first);
  await expect(send(Template)).rejects.toMatchObject({ name: 'NotFoundException' });
  // Inline ones have the whole language, too.
  await send({
    TemplateContent: { Subject: 'Order of {{name}}', Html: '<p>{{#items}}{{title}} {{/items}}</p>' },
    TemplateData,
  });
  expectRendered();
});

test('a repeat gets the first answer when its template is gone: in batches, too', async () => {
  const Authorization = `Bearer ${key}`;
  const template = { id: 'leaving', variables: { ...VARIABLES } };
  const to = (email: string) => ({ to: [{ email }], dynamic_template_data: VARIABLES });
  const leaving = { From: FROM, To: TO, TemplateAlias: 'leaving', TemplateModel: VARIABLES };
  const asks = [
    { path: '/emails', body: { from: FROM, to: TO, template } },
    {
      path: '/emails/batch',
      body: [
        { from: FROM, to: TO, template },
        { from: FROM, to: TO, template },
      ],
    },
    {
      path: '/v3/mail/send',
      body: {
        from: { email: 'jane@example.com' },
        template_id: 'leaving',
        personalizations: [to(TO), to('eve@example.org')],
      },
    },
    { path: '/email/withTemplate', body: leaving },
    { path: '/email/batchWithTemplates', body: { Messages: [leaving, leaving] } },
  ];
  const idsOf = async () => {
    const ids: unknown[] = [];
    for (const { path, body } of asks) {
      const headers = { Authorization, 'X-Postmark-Server-Token': key, 'Idempotency-Key': `leaving ${path}` };
      const answer = await world.ask({ method: 'POST', path, body, headers });
      expect(answer.status, path + answer.text).toBeLessThan(300);
      ids.push([answer.headers['x-message-id'], answer.text.match(/"(?:id|MessageID)":"[^"]+"/g)]);
    }
    return ids;
  };
  await storeTemplate(world, 'leaving', { subject: 'Bye', text: 'x' });
  const first = await idsOf();
  await world.stores.templates.removeTemplate('leaving');
  const before = world.intake.submissions.length;
  expect(await idsOf()).toEqual(first);
  expect(world.intake.submissions.length).toBe(before);
});
