// Opens reports in Chromium, at two widths, light and dark, and lists what a reader
// would suffer from: console messages, requests for anything but the page itself, a
// page wider than its window, and findings of axe-core. Exits 1 if it lists anything.
//
//   node check.mjs CHROMIUM REPORT.html...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const widths = [390, 1280];
const schemes = ["light", "dark"];

const [executablePath, ...reports] = process.argv.slice(2);
if (!reports.length) {
  console.error("usage: node check.mjs CHROMIUM REPORT.html...");
  process.exit(2);
}

// check opens the page once and returns its faults.
async function check(browser, url, width, colorScheme) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 800 } });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`script error: ${error.message}`));
  page.on("request", (request) => request.url() === url || faults.push(`request: ${request.url()}`));
  await page.goto(url, { waitUntil: "load" });

  // The window must be what was asked for: a check in another one proves nothing.
  const seen = await page.evaluate(() => ({
    width: innerWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    headings: document.querySelectorAll("h1").length,
  }));
  if (seen.width !== width || seen.dark !== (colorScheme === "dark") || seen.headings !== 1) {
    faults.push(`not the page that was asked for: ${JSON.stringify(seen)}`);
  }

  // What is folded away is on the page as well.
  await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
  for (const wide of await page.evaluate(overWide)) faults.push(`wider than the window: ${wide}`);

  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
  if (!passes.length) faults.push("axe checked nothing");
  for (const { id, impact, help, nodes } of violations) {
    const where = nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + node.html.slice(0, 120));
    faults.push(`axe ${id} (${impact}), ${nodes.length} times: ${help}\n    ${where.join("\n    ")}`);
  }
  await context.close();
  return faults;
}

// overWide runs in the page. It returns [] for a page that fits, or its width and the
// innermost elements that reach over the right edge and do not scroll in another one.
function overWide() {
  const root = document.documentElement;
  const room = root.clientWidth;
  if (root.scrollWidth <= room) return [];
  const scrolls = (element) => element && (getComputedStyle(element).overflowX !== "visible" || scrolls(element.parentElement));
  const over = [...document.body.querySelectorAll("*")].filter(
    (element) => element.getBoundingClientRect().right > room + 0.5 && !scrolls(element.parentElement),
  );
  const innermost = over.filter((element) => !over.some((other) => other !== element && element.contains(other)));
  const names = innermost.slice(0, 5).map((element) => element.outerHTML.slice(0, 120));
  return [`${root.scrollWidth} pixels in ${room}`, ...names];
}

const browser = await chromium.launch({ executablePath });
let bad = 0;
for (const report of reports) {
  const url = pathToFileURL(resolve(report)).href;
  for (const width of widths) {
    for (const scheme of schemes) {
      const faults = await check(browser, url, width, scheme);
      bad += faults.length;
      console.log(`${report}, ${width} pixels, ${scheme}: ${faults.length ? faults.length + " faults" : "good"}`);
      for (const fault of faults) console.log("  " + fault);
    }
  }
}
await browser.close();
process.exit(bad ? 1 : 0);
