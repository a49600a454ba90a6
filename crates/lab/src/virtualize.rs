//! Points whose kernels loop over logical blocks.

use raddle_ptx::transform::{Form, Options};
use raddle_runtime::{Problem, PtxFile};
use raddle_sim::config::MachineConfig;

/// What moves in front of the loop, by what stands behind the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hoist {
    /// All that can.
    All,
    /// As much as an SM full of threads has registers for.
    Fit,
    /// Nothing.
    None,
}

const HOISTS: [(&str, Hoist); 3] = [("", Hoist::All), (", fit", Hoist::Fit), (", no-hoist", Hoist::None)];

/// How the kernels of a workload are changed before they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Virtualize {
    form: Form,
    hoist: Hoist,
}

impl Virtualize {
    /// From its name: a form, or one with `, fit` or `, no-hoist` behind it; `no` is none.
    ///
    /// # Errors
    /// When there is no such form.
    pub fn parse(text: &str) -> Result<Option<Self>, Problem> {
        if text == "no" {
            return Ok(None);
        }
        for (behind, hoist) in HOISTS {
            if let Some(form) = text.strip_suffix(behind).and_then(Form::named) {
                return Ok(Some(Self { form, hoist }));
            }
        }
        let problem = Problem::new(format!("kernels cannot be virtualised like `{text}`"));
        let names = Form::ALL.map(Form::name).join(", ");
        Err(problem.help(format!("they can be {names}, each with or without `, fit` or `, no-hoist` after it, or no")))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        let hoist = HOISTS.iter().find(|(_, hoist)| *hoist == self.hoist).map_or("?", |(name, _)| name);
        format!("{}{hoist}", self.form.name())
    }

    /// The same for the transformation, on a machine.
    fn options(&self, machine: &MachineConfig) -> Options {
        let sm = &machine.sm;
        let grain = sm.register_grain.max(1);
        let each = sm.registers / sm.threads.max(1) / grain * grain;
        let hoist_registers = (self.hoist == Hoist::Fit).then_some(each);
        Options { form: self.form, hoist: self.hoist != Hoist::None, hoist_registers, ..Options::default() }
    }

    /// Changes all kernels of a file, which runs on this machine.
    ///
    /// # Errors
    /// When one of them cannot be.
    pub fn apply(&self, file: &PtxFile, machine: &MachineConfig) -> Result<PtxFile, raddle_runtime::Error> {
        let (file, refused) = file.virtualize(&self.options(machine))?;
        match refused.first() {
            None => Ok(file),
            Some(refusal) => {
                let message = format!("kernel `{}`: {}", refusal.kernel, refusal.diagnostic.message);
                Err(raddle_runtime::Error::Refused(message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn machine() -> MachineConfig {
        Machine::load(Source::Preset("gtx480"), &[""; 0]).unwrap().config
    }

    #[test]
    fn what_fits_is_what_an_sm_full_of_threads_has_registers_for() {
        let options = |text: &str| Virtualize::parse(text).unwrap().unwrap().options(&machine());
        assert_eq!(options("same-lane, fit").hoist_registers, Some(20), "32768 for 1536 threads, four at a time");
        assert_eq!((options("same-lane").hoist_registers, options("same-lane, no-hoist").hoist), (None, false));
    }

    #[test]
    fn names_come_back() {
        for name in ["software", "same-lane, fit", "slowest-lane, no-hoist", "lowest-lane"] {
            assert_eq!(Virtualize::parse(name).unwrap().unwrap().name(), name);
        }
        assert_eq!(Virtualize::parse("no").unwrap(), None);
        assert!(Virtualize::parse("fastest-lane").unwrap_err().to_string().contains("fastest-lane"));
    }

    #[test]
    fn a_kernel_that_cannot_be_changed_is_refused() {
        let text = ".version 6.0\n.target sm_50\n.entry k() { .reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r1, %tid.x;\n\
            setp.eq.u32 %p1, %r1, 0; @%p1 ret; bar.sync 0; ret; }";
        let file = PtxFile::parse("k.ptx", text.to_owned()).unwrap();
        let error = Virtualize::parse("same-lane").unwrap().unwrap().apply(&file, &machine()).unwrap_err();
        assert!(matches!(&error, raddle_runtime::Error::Refused(why) if why.contains("barrier")), "{error}");
    }
}
