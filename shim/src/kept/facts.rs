//! What the descriptions say of a kept command: the roles of `apis/level_zero/snapshot.api`, by indices of parameters.

/// The kind of an object, where a snapshot has to do more than to repeat the commands that made it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The commands that made and set the object describe it.
    Plain,
    /// A command queue.
    Queue,
    /// A list that executes its commands at once. Commands are not kept in it.
    ImmediateList,
    /// An event, which may be signalled.
    Event,
    /// A fence, which may be signalled.
    Fence,
    /// An image, with contents.
    Image,
    /// Memory that the host can read.
    HostMemory,
    /// Memory that only devices can read.
    DeviceMemory,
}

/// Where a command has a handle or a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The argument at this index.
    Argument(u8),
    /// In the memory at which the argument at this index points.
    Array(u8),
}

/// The work of a keeper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Keeps the command as a property of the object that this argument is.
    Set(u8),
    /// Keeps the command in the object at this place.
    Append(Place),
    /// Keeps, forgets or notes the command in the registry.
    Register,
}

/// A command that a keeper stands before.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub id: u16,
    pub facts: Facts,
    /// Sizes of the arguments in bytes.
    pub sizes: &'static [usize],
}

/// The facts of one command. Numbers are indices of parameters, if nothing else is said.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The command opens the API.
    pub opens: bool,
    /// Pointer to handles or addresses that exist without being made.
    pub found: Option<u8>,
    /// Pointers to the handle or address of what the command makes.
    pub made: &'static [u8],
    /// Kind of what the command makes or finds.
    pub kind: Kind,
    /// The object of which the command sets a property.
    pub set: Option<u8>,
    /// Number that tells apart properties that this command sets.
    pub set_key: Option<u8>,
    /// Several threads may set properties of one object with this command at once.
    pub set_shared: bool,
    /// The object that the command is appended to.
    pub appended: Option<Place>,
    /// Objects whose properties are those at the append when the command is executed.
    pub uses: Option<Place>,
    /// The object that forgets the commands appended to it.
    pub emptied: Option<u8>,
    /// The object or the memory that ends.
    pub destroyed: Option<u8>,
    /// Context of what the command makes.
    pub in_context: Option<u8>,
    /// Device of what the command makes.
    pub on_device: Option<u8>,
    /// Size in bytes of the memory that the command allocates or finds.
    pub memory_bytes: Option<Place>,
    /// A snapshot cannot describe what the command did.
    pub unkept: bool,
    /// Parameters that are handles.
    pub handles: &'static [u8],
    /// Arrays of handles, as indices among the memory that the command always reads.
    pub handle_arrays: &'static [u8],
}

impl Facts {
    /// A command of which nothing is kept.
    pub const NONE: Facts = Facts {
        opens: false,
        found: None,
        made: &[],
        kind: Kind::Plain,
        set: None,
        set_key: None,
        set_shared: false,
        appended: None,
        uses: None,
        emptied: None,
        destroyed: None,
        in_context: None,
        on_device: None,
        memory_bytes: None,
        unkept: false,
        handles: &[],
        handle_arrays: &[],
    };

    /// What the command's keeper does.
    pub const fn way(&self) -> Way {
        match (self.set, self.appended) {
            _ if self.unkept => Way::Register,
            (Some(owner), _) => Way::Set(owner),
            (None, Some(list)) => Way::Append(list),
            (None, None) => Way::Register,
        }
    }

    /// Whether the command itself is kept.
    pub const fn is_kept(&self) -> bool {
        let is_object = self.found.is_some() || !self.made.is_empty();
        self.opens || is_object || self.set.is_some() || self.appended.is_some()
    }
}
