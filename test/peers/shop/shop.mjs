/** The application of docs/testing.md: who signs up is sent a code and a link. It also has pages, for Playwright. */
import { createServer } from 'node:http';

export async function signUp(email) {
  const { WAYBILL_URL, WAYBILL_TEST_KEY } = process.env;
  const answer = await fetch(`${WAYBILL_URL}/api/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${WAYBILL_TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      from: 'Shop <shop@example.com>',
      to: [email],
      subject: 'Your code',
      text: `Your code is 135790.\n\nConfirm: ${confirmation}\n`,
      html: `<style>p { color: #246810 }</style><p>Your code is 135790.</p><p><a href="${confirmation}">Confirm</a></p>`,
      attachments: [{ filename: 'terms.pdf', contentType: 'application/pdf', content: 'JVBERi0=' }],
    }),
  });
  if (answer.status !== 202) throw new Error(await answer.text());
}

let confirmation = 'https://shop.example/confirm?token=abc';

/** Serves the pages; gives their address. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    if (request.method === 'POST') {
      let body = '';
      for await (const chunk of request) body += chunk;
      await signUp(new URLSearchParams(body).get('email'));
    }
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(`<!doctype html><html lang="en"><title>Shop</title>${page(url, request.method)}`);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}`;
  confirmation = `${address}/confirm?token=abc`;
  return { address, close: () => server.close() };
}

function page({ pathname, searchParams }, method) {
  if (pathname === '/confirm' && searchParams.get('token') === 'abc') return '<p>Thank you.</p>';
  if (pathname !== '/sign-up') return '<p>There is no such page.</p>';
  if (method === 'POST') return '<p>We have written to you.</p>';
  return '<form method="post"><label>Email <input name="email"></label><button>Sign up</button></form>';
}
