/** An application whose transport is in a file: sends one letter, and prints what comes when it may not. */
const { transport } = await import(process.argv[2]);

const letter = (from) => ({
  from: `Shop <${from}>`,
  to: 'you@example.com',
  cc: 'cc@example.com',
  subject: 'Grüße',
  text: 'Thank you.',
  html: '<p>Thank you.</p>',
  attachments: [
    { filename: 'data.bin', content: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
  ],
});

await transport.sendMail(letter('shop@example.com'));
await transport.sendMail(letter('shop@other.example')).catch(({ code }) => process.stdout.write(`${code}\n`));
