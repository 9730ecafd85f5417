/** What a new template begins with. */

/** See above. */
export interface Starter {
  readonly subject: string;
  readonly html: string | null;
  readonly sample: Readonly<Record<string, unknown>>;
}

/** A mail in one column that fits phones, and has colours of its own for dark mode. */
function page(content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="supported-color-schemes" content="light dark">
  <title>{{shop}}</title>
  <style>
    @media (prefers-color-scheme: dark) {
      .page { background: #16181b !important }
      .sheet { background: #22262b !important; color: #eceeef !important }
      .soft { color: #a7afb4 !important }
      .link { color: #9db0ff !important }
    }
  </style>
</head>
<body class="page" style="margin: 0; padding: 0; background: #f4f4f1">
  <table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="page" style="background: #f4f4f1">
    <tr>
      <td align="center" style="padding: 24px 12px">
        <table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="sheet"
          style="max-width: 560px; background: #ffffff; color: #16191d; border-radius: 8px; font: 16px/1.5 Arial, sans-serif">
          <tr>
            <td style="padding: 32px">
${content}
            </td>
          </tr>
        </table>
      </td>
    </tr>
  </table>
</body>
</html>
`;
}

/** The starters, by name. */
export const STARTERS = {
  code: {
    subject: '{{code}} is your code for {{shop}}',
    html: page(`              <p style="margin: 0 0 16px">Hello {{name}},</p>
              <p style="margin: 0 0 16px">this is your code to sign in. It is valid for {{minutes}} minutes.</p>
              <p style="margin: 0 0 16px; font-size: 32px; font-weight: bold; letter-spacing: 4px">{{code}}</p>
              <p class="soft" style="margin: 0; font-size: 14px; color: #565c5c">
                You did not ask for it? Then somebody has mistyped an address, and there is nothing to do.
              </p>`),
    sample: { shop: 'Example Shop', name: 'Ann', code: '135790', minutes: 10 },
  },
  list: {
    subject: 'Your order {{order.number}}',
    html: page(`              <p style="margin: 0 0 16px">Hello {{name}},</p>
              <p style="margin: 0 0 16px">thank you for your order {{order.number}}.</p>
              <table role="presentation" width="100%" cellpadding="0" cellspacing="0">
                {{#order.lines}}
                <tr>
                  <td style="padding: 6px 0">{{count}} × {{title}}</td>
                  <td align="right" style="padding: 6px 0">{{price}}</td>
                </tr>
                {{/order.lines}}
              </table>
              <p style="margin: 16px 0; font-weight: bold">Total: {{order.total}}</p>
              {{^order.paid}}
              <p style="margin: 0 0 16px">Please pay within 14 days.</p>
              {{/order.paid}}
              <p style="margin: 0"><a href="{{order.url}}" class="link" style="color: #2742c9">See your order</a></p>`),
    sample: {
      shop: 'Example Shop',
      name: 'Ann',
      order: {
        number: '1001',
        paid: false,
        total: '37.50 EUR',
        url: 'https://shop.example.com/orders/1001',
        lines: [
          { count: 2, title: 'Coffee beans, 500 g', price: '25.00 EUR' },
          { count: 1, title: 'Filter', price: '12.50 EUR' },
        ],
      },
    },
  },
  letter: {
    subject: 'Hello {{name}}',
    html: '<p>Hello {{name}},</p>\n<p></p>\n',
    sample: { name: 'Ann' },
  },
} satisfies Readonly<Record<string, Starter>>;

/** The name of a starter. */
export type StarterName = keyof typeof STARTERS;

/** The alias that a name suggests: its letters, with hyphens between the words. */
export function aliasOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .split(/[^a-z0-9._]+/)
    .filter((word) => word !== '')
    .join('-')
    .slice(0, 64);
}
