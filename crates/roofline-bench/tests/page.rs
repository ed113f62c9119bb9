//! `docs/bring-your-own/rust.md`, followed to the letter, and what happens to those who stray from it.
//!
//! The blocks of the page become a crate of its own, and its commands are run there. The crate's build shares the
//! target folder of the tests, so that only what is ours is built once more.

#[path = "../../roofline/tests/page/mod.rs"]
mod page;

use page::{blocks, write_tree};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PAGE: &str = "docs/bring-your-own/rust.md";
const HOUSE: &str = "A kernel for an operation of the house";
const OWN: &str = "An operation of your own";
const PROPERTY: &str = "Several outputs, or a property";
const WRONG: &str = "When it is wrong";

#[test]
fn the_page_works() {
    let mut example = Example::new();
    example.write(&example.files);
    let said = example.follow(HOUSE);
    let [all, quick, against, list, test] = &said[..] else { panic!("five commands, not {}", said.len()) };
    for said in [all, quick, against, test] {
        said.must(0, &["mine/three-loops", "ok"]);
    }
    all.must(0, &["softmax/f32/rows=512,cols=31", "of limit"]);
    assert!(!quick.out.contains("cols=31"), "the filter lets through: {}", quick.out);
    against.must(0, &["vs cpu", "cpu/vector"]);
    let names = ["softmax/f32/rows=64,cols=1000", "softmax/f32/rows=512,cols=31"];
    let names = names.map(|case| format!("{case}@mine/three-loops: benchmark\n"));
    assert_eq!(list.out, names.concat());
    assert!(!test.out.contains("of limit"), "cargo test measures: {}", test.out);

    let said = example.follow("Baselines");
    let [save, compare] = &said[..] else { panic!("two commands, not {}", said.len()) };
    save.must(0, &["ok"]);
    assert!(save.err.contains("baseline `main` is kept in"), "{}", save.err);
    compare.must(0, &["beside `main`", "main/three-loops", "× as fast ["]);

    example.changes();
    example.revisions();
    example.write(&example.files);
    example.habits();
    example.alone();

    [OWN, PROPERTY].iter().for_each(|section| example.add(section));
    example.write(&example.files);
    let said = example.follow(OWN);
    said[0].must(0, &["gemv/f32/rows=256,cols=1000", "mine/eight-sums", "traffic", "1 row: 1 ok"]);

    let said = example.follow(PROPERTY);
    let rows = ["range/f32/rows=256,cols=1000", "largest/f32/rows=256,cols=1000"];
    said[0].must(0, &[rows[0], rows[1], "mine/folds", "mine/scan", "2 rows: 2 ok"]);

    example.mistakes();
}

/// The crate of the page.
struct Example {
    page: String,
    folder: PathBuf,
    target: PathBuf,
    root: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    _lock: File,
}

/// What a command said.
struct Said {
    command: String,
    code: Option<i32>,
    out: String,
    err: String,
}

impl Said {
    /// Ends with a code, and prints all of these.
    fn must(&self, code: i32, words: &[&str]) {
        let Said { command, out, err, .. } = self;
        assert_eq!(self.code, Some(code), "{command}\n{out}\n{err}");
        for word in words {
            assert!(out.contains(word), "{command}: no `{word}` in\n{out}\n{err}");
        }
    }

    /// Ends with a code and says all of these on standard error.
    fn must_say(&self, code: i32, words: &[&str]) {
        let Said { command, out, err, .. } = self;
        assert_eq!(self.code, Some(code), "{command}\n{out}\n{err}");
        for word in words {
            assert!(err.contains(word), "{command}: no `{word}` in\n{err}\n{out}");
        }
    }
}

/// What is ours and neither measures nor is measured: compiled for this page alone, it is so as quickly as can be.
const SELDOM_RUN: [&str; 5] =
    ["roofline-core", "roofline-store", "roofline-report", "roofline-run", "roofline-benches"];

/// The profile of the tests, so that nothing need be built again that was built for them; and kernels and probes of the
/// house are as fast as there, or an honest kernel would beat them.
fn profile(root: &Path) -> String {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("the manifest of the workspace");
    let manifest: toml::Table = manifest.parse().expect("a manifest is TOML");
    let mut profile = manifest["profile"].as_table().expect("the workspace has profiles").clone();
    profile.retain(|name, _| name == "dev");
    let packages = profile["dev"]["package"].as_table_mut().expect("some packages have levels of their own");
    for name in SELDOM_RUN {
        packages.insert(name.to_owned(), toml::Table::from_iter([("opt-level".to_owned(), 0.into())]).into());
    }
    toml::Table::from_iter([("profile".to_owned(), profile.into())]).to_string()
}

impl Example {
    fn new() -> Example {
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bring-your-own-rust");
        let folder = place.join("crate");
        fs::create_dir_all(&folder).expect("a folder under the target folder");
        // Two runs at once would write each other's crate.
        let lock = File::create(place.join("lock")).expect("a lock file");
        lock.lock().expect("the lock of the example");
        let page = fs::read_to_string(root.join(PAGE)).expect(PAGE);
        let target = place.parent().and_then(Path::parent).expect("the target folder").to_owned();
        // What a bench becomes.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "-p", "roofline"])
            .env("CARGO_TARGET_DIR", &target)
            .current_dir(&root)
            .status();
        assert!(built.is_ok_and(|status| status.success()), "roofline can be built");
        let mut example = Example { page, folder, target, root, files: BTreeMap::new(), _lock: lock };
        example.add(HOUSE);
        let manifest = example.files.get_mut("Cargo.toml").expect("the page has a manifest");
        manifest.extend(format!("\n{}", profile(&example.root)).into_bytes());
        // The versions that the tests were built with, so that nothing is fetched.
        let lock = fs::read(example.root.join("Cargo.lock")).expect("Cargo.lock");
        example.files.insert("Cargo.lock".to_owned(), lock);
        example
    }

    /// Files, and changes of files, under a heading of the page.
    fn add(&mut self, section: &str) {
        let blocks = blocks(&self.page).into_iter();
        for mut block in blocks.filter(|block| block.file().is_some() && block.section == section) {
            block.text = block.text.replace("ROOFLINE", &self.root.display().to_string());
            block.apply(&mut self.files);
        }
    }

    fn write(&self, files: &BTreeMap<String, Vec<u8>>) {
        write_tree(&self.folder, files);
    }

    /// The crate with a text of one file exchanged.
    fn changed(&self, file: &str, from: &str, to: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.files.clone();
        let text = String::from_utf8(files[file].clone()).expect("text");
        assert!(text.contains(from), "{file} has no `{from}`");
        files.insert(file.to_owned(), text.replace(from, to).into_bytes());
        files
    }

    /// The commands under a heading of the page, in their order.
    fn follow(&self, section: &str) -> Vec<Said> {
        let blocks = blocks(&self.page);
        let shell = blocks.iter().filter(|block| block.is_shell() && block.section == section);
        shell.flat_map(|block| block.text.lines()).map(|command| self.run(command)).collect()
    }

    /// A command of cargo as the page has it; only the profile is one that builds quickly.
    fn run(&self, command: &str) -> Said {
        let words: Vec<&str> = command.split_whitespace().collect();
        let ["cargo", verb, rest @ ..] = &words[..] else { panic!("`{command}` is not for cargo") };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.current_dir(&self.folder).args([verb, "--offline", "--quiet", "--profile", "dev"]).args(rest);
        self.say(command, cargo)
    }

    /// What a command says in the environment of these tests.
    fn say(&self, words: &str, mut command: Command) -> Said {
        let path =
            format!("{}:{}", self.target.join("debug").display(), std::env::var("PATH").unwrap_or_default());
        command
            .env("PATH", path)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("ROOFLINE_LOCK", "roofline-bench-page")
            .env_remove("RUSTFLAGS");
        let Output { status, stdout, stderr } = command.output().expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Said { command: words.to_owned(), code: status.code(), out: text(stdout), err: text(stderr) }
    }

    /// Kernels that were slowed down, or were not there, since the baseline was kept.
    fn changes(&self) {
        let again = "for _ in 0..4 { y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - max).exp()); \
                     std::hint::black_box(&*y); }\n let scale = ";
        self.write(&self.changed("src/lib.rs", "let scale = ", again));
        let compare = "cargo bench --bench kernels -- --quick cols=1000 --baseline main";
        self.run(compare).must(0, &["beside `main`", "× as fast [", "slower"]);
        let said = self.run(&format!("{compare} --fail-on slower --output-format junit"));
        said.must(3, &["failures=\"1\"", "type=\"regression\"", "as fast as main/three-loops: slower"]);
        self.write(&self.changed("benches/kernels.rs", "\"three-loops\"", "\"renamed\""));
        let said = self.run(&format!("{compare} --fail-on slower"));
        said.must(5, &["softmax/f32/rows=64,cols=1000@mine/renamed  new"]);
    }

    /// `roofline ab` on revisions of the crate, by the program that stands beside these tests.
    fn revisions(&self) {
        let mut files = self.files.clone();
        let words = "[build]\ncargo = [\"--offline\", \"--quiet\", \"--profile\", \"dev\", \"--bench\", \"kernels\"]\n";
        files.insert("roofline.toml".to_owned(), words.into());
        self.write(&files);
        let git = "git -c user.name=A -c user.email=a@example.org";
        let commit = format!("rm -rf .git && git init -q && {git} add -A && {git} commit -q -m one");
        self.shell(&commit).must(0, &[]);
        let ab = "roofline ab HEAD . cols=1000 --quick";
        self.shell(ab).must(0, &["old/three-loops", "mine/three-loops", "vs old/three-loops"]);
        let again = "for _ in 0..4 { y.iter_mut().zip(x).for_each(|(y, x)| *y = (x - max).exp()); \
                     std::hint::black_box(&*y); }\n let scale = ";
        let slower = &self.changed("src/lib.rs", "let scale = ", again)["src/lib.rs"];
        fs::write(self.folder.join("src/lib.rs"), slower).expect("a file of the crate");
        self.shell(ab).must_say(
            3,
            &["building `old`", "building `new`", "slower: softmax/f32/rows=64,cols=1000@mine/three-loops"],
        );
        self.shell(&format!("{ab} --threads 2")).must_say(2, &["a bench takes SELECT alone"]);
        self.shell("rm -rf .git .roofline").must(0, &[]);
    }

    /// A line of shell in the crate, with the program of the tests in the path.
    fn shell(&self, line: &str) -> Said {
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).current_dir(&self.folder).env("CARGO", env!("CARGO"));
        self.say(line, shell)
    }

    /// What Criterion's users write.
    fn habits(&self) {
        let said = self.run("cargo bench --bench kernels -- --quick --sample-size 100 --noplot no-such-row");
        said.must_say(5, &["no row is selected"]);
        let said =
            self.run("cargo bench --bench kernels -- --test --output-format csv --sample-size 100 cols=31");
        said.must(0, &["\"softmax/f32/rows=512,cols=31\",mine/three-loops,ok"]);
        assert!(said.err.contains("`--sample-size` decides nothing"), "{}", said.err);
        let said = self.run("cargo bench --bench kernels -- --test --output-format bencher cols=31");
        said.must(0, &["test softmax/f32/rows=512,cols=31@mine/three-loops ... ok\n"]);
        let said = self.run(
            "cargo bench --bench kernels -- --quick --output-format bencher --baseline-lenient mian cols=31 \
             --nresamples 1000 --quiet",
        );
        said.must(0, &["@mine/three-loops ... bench: ", " ns/iter (+/- "]);
        said.must_say(0, &["there is no baseline `mian`", "`--nresamples` has no use here: "]);
        let said = self.run("cargo bench --bench kernels -- --baseline mian");
        said.must_say(2, &["there is no baseline `mian`", "did you mean `main`"]);
        let said = self.run("cargo bench --bench kernels -- --list --baseline main cols=31");
        assert_eq!(said.out, "softmax/f32/rows=512,cols=31@mine/three-loops: benchmark\n");
    }

    /// Where there is no program `roofline`.
    fn alone(&self) {
        let line = "ROOFLINE=/no/such/program $CARGO bench --offline --quiet --profile dev --bench kernels";
        self.shell(line).must_say(2, &["which the program `roofline` conducts", "hint: it comes with"]);
    }

    /// Kernels and references that are wrong, panic, hang or die.
    fn mistakes(&self) {
        let mut wrong = self.files.clone();
        let change = blocks(&self.page);
        let change = change
            .iter()
            .find(|block| block.file().is_some() && block.section == WRONG)
            .expect("the page shows a wrong kernel");
        change.apply(&mut wrong);
        self.write(&wrong);
        let said = self.run("cargo bench --bench kernels -- --quick cols=1000 --save-baseline broken");
        let words = ["wrong: softmax/f32/rows=64,cols=1000@mine/three-loops", "worst: at [", "± "];
        said.must(4, &words);
        assert!(said.err.contains("baseline `broken` was not kept"), "{}", said.err);
        let reproduce = said.out.lines().find_map(|line| line.trim().strip_prefix("reproduce: "));
        let again = self.run(reproduce.expect("a command that shows it again"));
        again.must(4, &["wrong: softmax/f32/rows=64,cols=1000@mine/three-loops"]);
        let worst = |said: &Said| said.out.lines().find(|line| line.contains("worst: ")).map(str::to_owned);
        assert_eq!(worst(&again), worst(&said), "another element");

        self.write(&self.changed(
            "src/lib.rs",
            "let scale = ",
            "assert!(cols < 50, \"rows are too long\");\n let scale = ",
        ));
        let said = self.run("cargo bench --bench kernels -- --test");
        said.must(
            4,
            &["crashed: softmax/f32/rows=64,cols=1000@mine/three-loops", "rows are too long, at src/lib.rs:"],
        );

        let own = |from: &str, to: &str| {
            self.write(&self.changed("benches/gemv.rs", from, to));
            self.run("cargo bench --bench gemv -- --test --timeout 1")
        };
        let off_by_one = (
            "mine::gemv(inputs[0], inputs[1], output);",
            "mine::gemv(inputs[0], inputs[1], output); output[0] += 1e-3;",
        );
        own(off_by_one.0, off_by_one.1)
            .must(4, &["wrong: gemv/f32/rows=256,cols=1000@mine/eight-sums", "worst: at [0]"]);
        let reference = |change: &str, words: &[&str]| {
            let said = own("wanted.iter().map(expected).collect()", change);
            said.must(4, &["refused"]);
            said.must_say(4, words);
        };
        reference(
            "panic!(\"not today\")",
            &["the reference of `gemv` panicked", "benches/gemv.rs:", "not today"],
        );
        reference("wanted.iter().skip(1).map(expected).collect()", &["gave", "values where", "were wanted"]);
        let nan = "wanted.iter().map(expected).map(|e| Expected { value: f64::NAN, ..e }).collect()";
        reference(nan, &["gave NaN at element 0"]);
        reference("std::process::abort()", &["ended its process", "SIGABRT"]);
        reference("loop { std::thread::park() }", &["gave no answer within 10 s"]);
        let loose = "wanted.iter().map(expected).map(|e| Expected { soft: 1e3, ..e }).collect()";
        own("wanted.iter().map(expected).collect()", loose).must(5, &["refused", "self-test"]);
        let said = own("const NAME: &'static str = \"gemv\";", "const NAME: &'static str = \"matmul\";");
        said.must_say(2, &["operation `matmul`: there is one of the name `matmul` already"]);
    }
}
