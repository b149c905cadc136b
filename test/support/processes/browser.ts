import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import axe from 'axe-core';
import { chromium, type Locator, type Page } from 'playwright-core';

/** Debian's Chromium. The headless shell takes about a third less processor time. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The browser: `CHROMIUM`, or what is installed. */
const executablePath = process.env.CHROMIUM ?? installed.find(existsSync) ?? '/usr/bin/chromium';

/** Whether browser tests can run here. With `CI=true`, a missing browser fails them instead. */
export const hasBrowser = existsSync(executablePath) || process.env.CI === 'true';

const args = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Loading a page of another gateway starts no further process.
  '--renderer-process-limit=1',
];

const viewport = { width: 1280, height: 800 };

/** A browser for the test files of a process. */
export interface TestBrowser {
  /** Loads a page in the browser's one tab, which has kept nothing of the page before. Its errors are collected. */
  readonly open: (url: string) => Promise<Tab>;
  readonly close: () => Promise<void>;
}

/** A page in the tab. */
export interface Tab {
  readonly page: Page;
  /** Errors thrown or logged so far, and external requests; should be empty. */
  readonly complaints: string[];
}

/** After so long, in milliseconds, a wait fails with what it waits for, before the runner ends the file. */
const longestWaitMs = 100_000;

let shared: Promise<TestBrowser> | undefined;
let users = 0;

/** The process's browser, started for the first test file that asks and closed by the last. The interface is built first. */
export const startBrowser = async (): Promise<TestBrowser> => {
  users += 1;
  shared ??= launch();
  const { open, close } = await shared;
  return {
    open,
    async close() {
      users -= 1;
      if (users > 0) return;
      shared = undefined;
      await close();
    },
  };
};

/** Starts Chromium with its own profile folder. */
const launch = async (): Promise<TestBrowser> => {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../../ui/build.js')]);
  const home = await mkdtemp(join(tmpdir(), 'junctor-browser-'));
  const context = await chromium.launchPersistentContext(home, {
    executablePath,
    args,
    viewport,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    timeout: longestWaitMs,
    // A gateway compresses the interface once, which takes it longer than most tests.
    extraHTTPHeaders: { 'accept-encoding': 'identity' },
  });
  context.setDefaultTimeout(longestWaitMs);
  const page = context.pages()[0] ?? (await context.newPage());
  let origin = '';
  let complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`${message.text()} (${message.location().url})`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(`asks ${request.url()}`);
  });
  // The browser asks before leaving a tab with unsaved changes.
  page.on('dialog', (dialog) => void dialog.accept());
  return {
    async open(url) {
      await page.unrouteAll();
      if (origin !== '') await page.evaluate('sessionStorage.clear()');
      // A page whose address differs in its fragment alone would not be loaded.
      await page.goto('about:blank');
      await page.setViewportSize(viewport);
      await page.mouse.move(0, 0);
      ({ origin } = new URL(url));
      complaints = [];
      await page.goto(url);
      return { page, complaints };
    },
    async close() {
      await context.close();
      await rm(home, { recursive: true, force: true });
    },
  };
};

/**
 * Replaces a code editor's text by pasting over it, which the editor does itself. Text that is typed over a selection keeps the
 * style of what it replaces in a `style` attribute, which the page's policy refuses with a console error.
 */
export const replaceText = async (editor: Locator, text: string): Promise<void> => {
  await editor.press('ControlOrMeta+a');
  await editor.page().evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    // The editor is in a shadow tree, for the styles it makes.
    const host = document.activeElement;
    (host.shadowRoot?.activeElement ?? host).dispatchEvent(paste);
  })()`);
};

/** Presses two keys that belong together, without waiting for the page in between: the second must follow soon. */
export const pressPair = async (page: Page, first: string, second: string): Promise<void> => {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
};

/** What axe looks at in each theme: of all rules, the one for contrast alone depends on it. */
const themes = { light: {}, dark: { runOnly: ['color-contrast'] } };

/** Serious and critical axe violations, in both themes: rule, place, and fix. */
export const violations = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = [];
  // The page may have it from an earlier check.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await settle(page);
    // No rule in use needs style sheets or media that axe loads itself.
    const options = JSON.stringify({ resultTypes: ['violations'], preload: false, ...themes[colorScheme] });
    // The expression's value is axe's result; only the listed members are read.
    const rows: readonly string[] = await page.evaluate(
      `axe.run(${options}).then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' at ' + target.join(' ') + ': ' + failureSummary)))`,
    );
    found.push(...rows.map((row) => `${colorScheme}: ${row}`));
  }
  await page.emulateMedia({ colorScheme: 'light' });
  // A click while the page takes on the theme again may be lost.
  await settle(page);
  return found;
};

/** Waits until the transition between the themes has finished. */
const settle = async (page: Page): Promise<void> => {
  await page.waitForTimeout(50);
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)).then(() => undefined)',
  );
};

/** Takes a screenshot of a page for the docs, into the folder in `SCREENSHOTS`; without it, none. */
export const takePicture = async (page: Page, name: string, colorScheme: 'light' | 'dark'): Promise<void> => {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.setViewportSize({ width: 1280, height: 960 });
  await page.emulateMedia({ colorScheme });
  await page.evaluate('window.scrollTo(0, 0)');
  await settle(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
};
