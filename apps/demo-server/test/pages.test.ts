import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientConfig, operatorPage } from '../src/pages.js';
import { aParkedPayment, aRunningDemo } from './running.js';

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

describe('the operator’s page', () => {
  it('escapes what an agent put into an order', async () => {
    const order = { principal: 'p', amount: 1, items: ['<script>alert(1)</script>'] };
    expect(String(await operatorPage([{ runId: '"><img>', order }]))).not.toMatch(/<script>alert|"><img>/);
  });

  it.skipIf(browserPath === undefined && process.env.CI !== 'true')(
    'approves a payment in a real browser',
    async () => {
      const running = await aRunningDemo();
      const agent = await running.agent();
      const runId = await aParkedPayment(agent);
      const page = await aBrowserPage();
      await page.goto(`${running.server.url}/operator?token=${running.server.operatorToken}`);
      expect(page.url()).not.toContain('token');
      await page.getByText('2 × Standing desk').waitFor();
      expect((await page.request.get(page.url())).headers()).toMatchObject({
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      });
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByText('No payment waits for you.').waitFor();
      expect((await agent.call('payment_result', { runId })).structured.status).toBe('paid');
    },
  );
});

describe('the home page', () => {
  it.skipIf(browserPath === undefined && process.env.CI !== 'true')('shows a config that can be copied', async () => {
    const { server } = await aRunningDemo();
    const page = await aBrowserPage();
    await page.goto(server.url);
    expect(JSON.parse((await page.locator('pre').textContent()) ?? '')).toEqual(JSON.parse(clientConfig(server.url)));
  });
});

async function aBrowserPage() {
  const profile = await mkdtemp(join(tmpdir(), 'interlock-browser-'));
  const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
  const context = await chromium.launchPersistentContext(profile, { executablePath: browserPath ?? 'chromium', args });
  onTestFinished(async () => {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  });
  return context.newPage();
}
